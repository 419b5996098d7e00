-- kind: rebuilt
-- tags: shop
-- description: The ten pages that were seen most.

select page_urlpath, sum(page_views) as page_views
from page_days
group by page_urlpath
order by page_views desc, page_urlpath
limit 10
