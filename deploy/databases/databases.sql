-- One database a service; none reads another's.
CREATE DATABASE sys;
CREATE DATABASE pki;
CREATE DATABASE workspace;
