/* Iceberg's own REST catalog, from the tests of its core, on the loopback address:
   java RestCatalog.java PORT DATABASE. Which tables there are is kept in a file of SQLite. */

import java.net.InetSocketAddress;
import java.util.Map;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;

public class RestCatalog {
  public static void main(String[] arguments) throws Exception {
    var settings = Map.of(
        "catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog",
        "uri", "jdbc:sqlite:" + arguments[1],
        "clients", "1",
        "jdbc.schema-version", "V1",
        "warehouse", arguments[2]);
    var conf = new org.apache.hadoop.conf.Configuration();
    var catalog = CatalogUtil.buildIcebergCatalog("backend", settings, conf);
    var context = new ServletContextHandler();
    context.addServlet(new ServletHolder(new RESTCatalogServlet(new RESTCatalogAdapter(catalog))), "/*");
    var server = new Server(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])));
    server.setHandler(context);
    server.start();
    server.join();
  }
}
