import { expect, test } from 'vitest';
import { commonNameOf } from './common-name.ts';

test.for([
  ['cn=web,ou=groups,dc=example', 'web'],
  ['CN=Domain Admins,DC=example', 'Domain Admins'],
  [String.raw`cn=a\,b,dc=example`, 'a,b'],
  [String.raw`cn=caf\c3\a9,dc=example`, 'café'],
  [String.raw`cn=a\2Cb,dc=example`, 'a,b'],
  [String.raw`ou=x\,cn=y,dc=example`, String.raw`ou=x\,cn=y,dc=example`],
  ['ou=first,cn=second', 'second'],
  ['cn=one+ou=two,dc=example', 'one'],
  ['plain', 'plain'],
  // A group may have such a name.
  ['web, cn=admins', 'web, cn=admins'],
  ['', ''],
])('the common name in %s is %s', ([dn = '', name]) => {
  expect(commonNameOf(dn)).toBe(name);
});
