import { createNetworks } from '@keelson/edge/networks';

/** Whether an address is in one of the networks. No networks bind nobody. */
export const isInBound = (ranges: readonly string[], address: string): boolean =>
  ranges.length === 0 || createNetworks(ranges).includes(address);
