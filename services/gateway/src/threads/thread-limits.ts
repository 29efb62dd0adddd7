/** The part of a gateway in limits of a process in which several threads have a gateway each. */
import type { GatewayConfig } from '../config.ts';
import { GATEWAY_LIMITS, type GatewayLimits } from '../limits/gateway-limits.ts';

/** Settings that limit all gateways of a process together. */
const DIVIDED = [
  'requestsUnderWay',
  'requestsAtOnce',
  'tenantRequestsAtOnce',
  'tenantRequestsWaiting',
] as const satisfies readonly (keyof GatewayConfig)[];

interface Limited {
  readonly config: GatewayConfig;
  /** Instead of those of `GATEWAY_LIMITS`. */
  readonly limits?: Partial<GatewayLimits>;
}

/**
 * Limits of one client, which usually has all its connections with one thread, are not divided: it would be refused
 * before it has what the setting allows.
 */
export const ownPart = (
  { config, limits: given }: Limited,
  gateways: number,
): { readonly config: GatewayConfig; readonly limits: GatewayLimits } => {
  const partOf = (whole: number): number => Math.ceil(whole / gateways);
  const limits = { ...GATEWAY_LIMITS, ...given };
  return {
    config: {
      ...config,
      ...Object.fromEntries(DIVIDED.map((name) => [name, partOf(config[name])])),
    },
    limits: {
      ...limits,
      bodiesBytes: partOf(limits.bodiesBytes),
      liveStreams: partOf(limits.liveStreams),
    },
  };
};
