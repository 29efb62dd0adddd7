/** A directory with people and groups: Debian's slapd on free loopback ports, without and with TLS. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writeCertificates } from './certificate-files.ts';
import { findBinary } from './find-binary.ts';
import { findFreePort } from './free-port.ts';
import { ServerProcess } from './server-process.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export const DIRECTORY_BASE = 'dc=example,dc=com';
export const DIRECTORY_READER = {
  binddn: `cn=reader,${DIRECTORY_BASE}`,
  bindpass: 'reader of a test',
} as const;

const person = (uid: string, cn: string, password: string): string => `
dn: uid=${uid},ou=people,${DIRECTORY_BASE}
objectClass: inetOrgPerson
uid: ${uid}
cn: ${cn}
sn: ${cn}
mail: ${uid}@example.com
userPassword: ${password}
`;

const ENTRIES = `
dn: ${DIRECTORY_BASE}
objectClass: dcObject
objectClass: organization
dc: example
o: Example

dn: ou=people,${DIRECTORY_BASE}
objectClass: organizationalUnit
ou: people

dn: ou=groups,${DIRECTORY_BASE}
objectClass: organizationalUnit
ou: groups

dn: ${DIRECTORY_READER.binddn}
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: reader
userPassword: ${DIRECTORY_READER.bindpass}
${person('alice', 'Alice', 'password of alice')}${person('bob', 'Bob', 'password of bob')}${person('o,neil', 'O Neil', 'password of neil')}
dn: cn=Domain Admins,ou=groups,${DIRECTORY_BASE}
objectClass: groupOfNames
cn: Domain Admins
member: uid=alice,ou=people,${DIRECTORY_BASE}

dn: cn=web,ou=groups,${DIRECTORY_BASE}
objectClass: posixGroup
cn: web
gidNumber: 1000
memberUid: alice
memberUid: bob
`.replaceAll('uid=o,neil', String.raw`uid=o\,neil`);

const toConfig = (folder: string, tls: Awaited<ReturnType<typeof writeCertificates>>): string => `
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
include /etc/ldap/schema/nis.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile ${folder}/slapd.pid
TLSCertificateFile ${tls.certificateFile}
TLSCertificateKeyFile ${tls.keyFile}
sizelimit 5000
database mdb
suffix "${DIRECTORY_BASE}"
rootdn "cn=admin,${DIRECTORY_BASE}"
rootpw "administrator of a test"
directory ${folder}/entries
access to attrs=userPassword by anonymous auth by * none
access to * by * read
`;

/** @param entries further ones, as LDIF */
export const startDirectory = async (entries = '') => {
  const folder = await temporaryDirectory();
  const tls = await writeCertificates(folder.path);
  const [slapd, slapadd] = await Promise.all(
    ['slapd', 'slapadd'].map((name) => findBinary(name, 'slapd')),
  );
  const config = join(folder.path, 'slapd.conf');
  const initial = join(folder.path, 'entries.ldif');
  await mkdir(join(folder.path, 'entries'));
  await writeFile(config, toConfig(folder.path, tls));
  await writeFile(initial, `${ENTRIES}\n${entries}`);
  await promisify(execFile)(slapadd ?? '', ['-q', '-f', config, '-l', initial]);
  const [port, tlsPort] = [await findFreePort(), await findFreePort()];
  const url = `ldap://127.0.0.1:${port}`;
  const tlsUrl = `ldaps://127.0.0.1:${tlsPort}`;
  const server = new ServerProcess({
    file: slapd ?? '',
    args: ['-f', config, '-h', `${url}/ ${tlsUrl}/`, '-d', 'stats'],
    ready: /slapd starting/,
  });
  await server.start();
  return {
    url,
    tlsUrl,
    /** The authority of the certificate of `tlsUrl`. */
    caPem: await readFile(tls.authorityFile, 'utf8'),
    server,
    stop: async (): Promise<void> => {
      await server.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
};

export type Directory = Awaited<ReturnType<typeof startDirectory>>;
