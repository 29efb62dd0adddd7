import { describe, expect, test } from 'vitest';
import { createNetworks } from './networks.ts';

describe('networks', () => {
  const networks = createNetworks(['10.1.0.0/16', '192.0.2.7', '2001:db8::/32', '::1']);

  test.for(['10.1.255.255', '192.0.2.7', '2001:db8::9', '::1', '::ffff:10.1.0.1', '::ffff:a01:1'])(
    'include %s',
    (address) => expect(networks.includes(address)).toBe(true),
  );

  test.for(['10.2.0.1', '192.0.2.8', '2001:db9::1', '::ffff:10.2.0.1', 'localhost', '', '10.1'])(
    'do not include "%s"',
    (address) => expect(networks.includes(address)).toBe(false),
  );

  test('without ranges include nothing', () => {
    expect(createNetworks([]).includes('127.0.0.1')).toBe(false);
  });

  test.for(['10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/x', 'example.com', '', '10.0.0.0/8/8'])(
    'are not created from "%s"',
    (range) =>
      expect(() => createNetworks(['10.0.0.1', range])).toThrow(
        `invalid CIDR or IP address: "${range}"`,
      ),
  );
});
