-- A role and a database for each service: no role is a superuser, and none connects to the database of another.
-- For psql; run again at any time, also over databases that the superuser has made and filled.
\set ON_ERROR_STOP on
\set superuser `cat /run/postgres-passwords/superuser`
\set sys `cat /run/postgres-passwords/sys`
\set pki `cat /run/postgres-passwords/pki`
\set workspace `cat /run/postgres-passwords/workspace`
\set auth `cat /run/postgres-passwords/auth`
\set services sys,pki,workspace,auth

SELECT format('CREATE ROLE %I', name) FROM unnest(string_to_array(:'services', ',')) AS name
  WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec
ALTER ROLE postgres PASSWORD :'superuser';
ALTER ROLE sys LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'sys';
ALTER ROLE pki LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'pki';
ALTER ROLE workspace LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'workspace';
ALTER ROLE auth LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'auth';

SELECT format('CREATE DATABASE %I', name) FROM unnest(string_to_array(:'services', ',')) AS name
  WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = name) \gexec
SELECT format('ALTER DATABASE %1$I OWNER TO %1$I', name) FROM unnest(string_to_array(:'services', ',')) AS name \gexec
SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', datname) FROM pg_database WHERE datallowconn \gexec

\connect sys
\ir owner.psql
\connect pki
\ir owner.psql
\connect workspace
\ir owner.psql
\connect auth
\ir owner.psql
