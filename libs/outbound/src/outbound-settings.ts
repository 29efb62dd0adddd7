/** The setting that widens where requests may go whose destination users choose. */
import { ConfigError } from '@keelson/config';
import { KeelsonError } from '@keelson/errors';
import { Type } from 'typebox';
import { type AddressPolicy, createPublicAddressPolicy } from './address-policy.ts';

export const outboundSettings = Type.Object(
  {
    outboundRanges: Type.Array(Type.String(), {
      default: [],
      description:
        'Addresses or networks (CIDR), in addition to public ones, to which requests may go whose destination users choose: notifications, repository providers and the identity providers of auth methods. An example is 10.0.0.0/8, 127.0.0.1.',
    }),
  },
  { title: 'Outgoing requests' },
);

export type OutboundConfig = Readonly<Type.Static<typeof outboundSettings>>;

/**
 * Which addresses requests may go to whose destination users choose.
 * @throws ConfigError for a malformed range
 */
export const toOutboundPolicy = ({ outboundRanges }: OutboundConfig): AddressPolicy => {
  try {
    return createPublicAddressPolicy(outboundRanges);
  } catch (error) {
    throw new ConfigError([`KEELSON_OUTBOUND_RANGES: ${KeelsonError.from(error).message}.`]);
  }
};
