import { createPublicAddressPolicy } from '@keelson/outbound/addresses';

/** @param setting that has the ranges @throws Error naming it and a range that is neither an address nor a network */
export const requireRanges = (ranges: readonly string[], setting: string): void => {
  try {
    createPublicAddressPolicy(ranges);
  } catch (error) {
    throw new Error(`${setting}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
};
