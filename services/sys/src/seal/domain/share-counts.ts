/** The number of shares of a key, and the number needed to reconstruct it. */

import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const shareCountsShape = Type.Object({ shares: Type.Number(), threshold: Type.Number() });
export type ShareCounts = Shaped<typeof shareCountsShape>;

const MAX_SHARES = 255;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** @throws KeelsonError `request.invalid` */
export const requireShareCounts = ({ shares, threshold }: ShareCounts): ShareCounts => {
  if (shares < 1) refuse('shares must be at least one');
  if (threshold < 1) refuse('threshold must be at least one');
  if (shares > 1 && threshold === 1)
    refuse('threshold must be greater than one for multiple shares');
  if (shares > MAX_SHARES) refuse(`shares must be less than ${MAX_SHARES + 1}`);
  if (threshold > shares) refuse('threshold cannot be larger than shares');
  return { shares, threshold };
};
