import { parseConfig } from '@keelson/config';
import { expect, test } from 'vitest';
import { publicAddressSettings, replicationSettings } from './process-settings.ts';

test.each([
  [publicAddressSettings, 'KEELSON_PUBLIC_URL', 'https://keelson.example:8443'],
  [replicationSettings, 'KEELSON_NATS_URL', 'nats://nats.example:4222'],
  [replicationSettings, 'KEELSON_CLUSTER_ADDRESS', 'tls://nats.example:4222'],
])(
  'an address that others get has no user or password, and the refusal names neither',
  (schema, name, address) => {
    expect(parseConfig(schema, { [name]: address })).toMatchObject({});
    const withPassword = address.replace('://', '://user:secret@');
    expect(() => parseConfig(schema, { [name]: withPassword })).toThrow(
      new RegExp(`^${name}((?!secret)[^])*$`),
    );
  },
);
