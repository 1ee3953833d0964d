//! Encrypted connections.

use std::net::TcpListener;
use std::process::Command;

use sterna_store::ErrorKind;
use sterna_store_postgres::{Config, Hints, PostgresStore, Trust};

use crate::server::{Server, skipped};

#[tokio::test]
async fn a_certificate_is_trusted_if_and_only_if_its_authority_is() {
    if Command::new("openssl").arg("version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "missing: openssl");
        skipped("encrypted connections, install openssl");
        return;
    }
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let Some(server) = Server::start_with(&prepare(port)) else {
        return;
    };
    let authority = server.folder().unwrap().join("ca.crt");
    let connection =
        format!("host=localhost port={port} user=sterna dbname=postgres sslmode=require");

    let mut config = Config::new(&connection).unwrap();
    config.trust = Trust::File(authority);
    PostgresStore::connect(config.clone()).await.unwrap();

    config.trust = Trust::System;
    config.hints = Hints::Off;
    let refused = PostgresStore::connect(config).await.unwrap_err();
    assert_eq!(
        (refused.kind(), refused.code()),
        (ErrorKind::Denied, Some("MR0705"))
    );
}

/// Gives the server a certificate of an authority that nobody else knows, and
/// accepts nothing but encrypted connections.
fn prepare(port: u16) -> String {
    format!(
        "key='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2'
         names=subjectAltName=DNS:localhost,IP:127.0.0.1
         {{
             openssl req -x509 $key -keyout ca.key -out ca.crt -subj /CN=authority &&
             openssl req $key -keyout data/server.key -out s.csr -subj /CN=server -addext $names &&
             openssl x509 -req -in s.csr -CA ca.crt -CAkey ca.key -CAcreateserial \\
                 -copy_extensions copy -out data/server.crt
         }} >tls.log 2>&1 &&
         echo \"fsync = off
                ssl = on
                port = {port}
                listen_addresses = 'localhost'\" >>data/postgresql.conf &&
         echo 'hostssl all all all trust' >data/pg_hba.conf &&
         echo 'local all all trust' >>data/pg_hba.conf"
    )
}
