import { describe, expect, test } from 'vitest';
import { createAddressPolicy, createPublicAddressPolicy } from './address-policy.ts';

const open = createAddressPolicy({ permitted: [], excluded: [] });

describe('by default an authority connects to', () => {
  test.for(['10.1.2.3', '192.168.0.1', '172.16.0.1', '127.0.0.1', '::1', 'fd00::1', '8.8.8.8'])(
    '%s',
    (address) => expect(open.allows(address)).toBe(true),
  );
});

describe('by default an authority does not connect to', () => {
  test.for([
    '169.254.169.254',
    '169.254.0.1',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    'fe80::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    '100.100.100.200',
    '168.63.129.16',
    '0.0.0.0',
    '::',
    '224.0.0.1',
    'ff02::1',
    '255.255.255.255',
    'not an address',
    '',
  ])('%s', (address) => expect(open.allows(address)).toBe(false));
});

describe('an address policy', () => {
  test('with permitted ranges refuses every other address', () => {
    const policy = createAddressPolicy({
      permitted: ['10.0.0.0/8', '2001:db8::/32'],
      excluded: [],
    });
    expect(
      ['10.9.9.9', '2001:db8::1', '11.0.0.1', '::1'].map((address) => policy.allows(address)),
    ).toEqual([true, true, false, false]);
  });

  test('permits by name what is refused by default', () => {
    const policy = createAddressPolicy({ permitted: ['169.254.10.1'], excluded: [] });
    expect([policy.allows('169.254.10.1'), policy.allows('169.254.10.2')]).toEqual([true, false]);
  });

  test('gives exclusions precedence', () => {
    const policy = createAddressPolicy({ permitted: ['10.0.0.0/8'], excluded: ['10.1.0.0/16'] });
    expect([policy.allows('10.2.0.1'), policy.allows('10.1.0.1')]).toEqual([true, false]);
    expect(createAddressPolicy({ permitted: [], excluded: ['::1'] }).allows('::1')).toBe(false);
  });

  test.for([
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0/8',
    '::/129',
    'x',
    '',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
  ])('refuses the range "%s"', (range) =>
    expect(() => createAddressPolicy({ permitted: [range], excluded: [] })).toThrow(
      'invalid CIDR or IP address',
    ),
  );
});

describe('for users', () => {
  const forUsers = createPublicAddressPolicy(['10.1.0.0/16', '::1']);

  test.for(['8.8.8.8', '2606:4700::1111', '10.1.2.3', '::ffff:10.1.2.3', '::1'])(
    '%s is public or was added',
    (address) => expect(forUsers.allows(address)).toBe(true),
  );

  test.for([
    '10.2.0.1',
    '127.0.0.1',
    '::ffff:127.0.0.1',
    '172.31.0.1',
    '192.168.1.1',
    '100.64.0.1',
    'fd00::1',
    '::7f00:1',
    '169.254.169.254',
    'localhost',
  ])('%s is neither', (address) => expect(forUsers.allows(address)).toBe(false));
});
