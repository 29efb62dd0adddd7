import { KeelsonError } from '@keelson/errors';
import type { Mount } from '@keelson/proto/edge/v1/edge';

/** The mount a request is for. Every request to this service has one; the gateway resolved it. */
export const requireMount = ({ mount }: { readonly mount: Mount | undefined }): Mount => {
  if (mount === undefined) throw new KeelsonError('request.unsupported_path');
  return mount;
};
