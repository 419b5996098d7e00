/* Hive's metastore, from the jars that Spark ships: java Metastore.java PORT FOLDER. Which tables
   there are is kept in a Derby database in the folder. It listens on all addresses: Hive 2.3 has no
   setting for that. */

import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.txn.TxnDbUtil;
import org.apache.hadoop.hive.shims.ShimLoader;

public class Metastore {
  public static void main(String[] arguments) throws Throwable {
    var conf = new HiveConf();
    conf.set("javax.jdo.option.ConnectionURL", "jdbc:derby:" + arguments[1] + "/metastore;create=true");
    conf.set("hive.metastore.warehouse.dir", "file://" + arguments[1] + "/warehouse");
    conf.set("datanucleus.schema.autoCreateAll", "true");
    conf.set("hive.metastore.schema.verification", "false");
    // The pool that it would take is not among Spark's jars.
    conf.set("datanucleus.connectionPoolingType", "NONE");
    // The tables of its locks, which Iceberg takes for every commit, are not made with the others.
    TxnDbUtil.prepDb(conf);
    var port = Integer.parseInt(arguments[0]);
    HiveMetaStore.startMetaStore(port, ShimLoader.getHadoopThriftAuthBridge(), conf);
  }
}
