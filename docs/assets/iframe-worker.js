// Browsers start no worker for a page from the disk. There, search runs in a hidden frame instead.
// As with a worker, messages are copies, and come when whoever sent them is done.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.frame.srcdoc = "<!doctype html>"
      this.frame.onload = () => this.begin(url)
      document.body.append(this.frame)
    }

    begin(url) {
      const inside = this.frame.contentWindow
      const script = inside.document.createElement("script")
      const later = (data, take) => setTimeout(take, 0, { data: structuredClone(data) })
      inside.postMessage = data => later(data, message => this.onmessage?.(message))
      script.src = url
      script.onerror = event => this.onerror?.(event)
      script.onload = () => {
        this.postMessage = data => later(data, message => inside.onmessage?.(message))
        this.waiting.forEach(data => this.postMessage(data))
      }
      inside.document.body.append(script)
    }

    postMessage(data) {
      this.waiting.push(data)
    }

    terminate() {
      this.frame.remove()
    }
  }
}
