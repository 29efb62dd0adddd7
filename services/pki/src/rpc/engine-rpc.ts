import { KeelsonError } from '@keelson/errors';
import type { EngineDefinition } from '@keelson/proto/engine/v1/engine';
import type { RpcService } from '@keelson/rpc';
import {
  type RevocationParts,
  revokeLeasedCertificate,
} from '../revocation/revocation-operations.ts';

/** The RPC service for sys. The engine data of a lease is the serial number of its certificate. */
export const createEngine = (parts: RevocationParts): RpcService<typeof EngineDefinition> => ({
  revokeLease: async ({ mount, engineData }) => {
    if (mount === undefined)
      throw new KeelsonError('request.invalid', { text: 'a lease without its mount' });
    await revokeLeasedCertificate(parts, mount, engineData.toString('utf8'));
    return {};
  },
});
