/** Transport settings shared by clients and servers. */
import type { ChannelOptions } from '@grpc/grpc-js';
import { serviceDnsName, type TlsIdentity, type TrustedAuthority } from './tls-identity.ts';

/** Largest gRPC message either side accepts. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** HTTP/2 flow-control window of a stream and connection; 64 KiB would cost a round trip per chunk. */
const FLOW_CONTROL_WINDOW_BYTES = 4 * 1024 * 1024;

export const transportOptions: ChannelOptions = {
  'grpc-node.flow_control_window': FLOW_CONTROL_WINDOW_BYTES,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
};

/**
 * Reconnects after 100 ms, with delays increasing to 1 s: in a rolling update, a replica that was replaced is used
 * before the next one stops. Never uses an HTTP proxy.
 */
export const clientChannelOptions = (
  service: string,
  tls: TlsIdentity | TrustedAuthority | undefined,
): ChannelOptions => ({
  ...transportOptions,
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.dns_min_time_between_resolutions_ms': 1_000,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  ...(tls && { 'grpc.ssl_target_name_override': serviceDnsName(service) }),
});
