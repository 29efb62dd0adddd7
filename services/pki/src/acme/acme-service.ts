/** Composes ACME: its routes and its background work. */
import { randomUUID } from 'node:crypto';
import type { Route } from '@keelson/edge';
import { type LeaseStore, runPeriodically } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import { takeFence } from '@keelson/storage';
import type { IssuingParts } from '../issuing/signing-operations.ts';
import type { PkiCounters } from '../metrics/counters.ts';
import type { RevocationParts } from '../revocation/revocation-operations.ts';
import { accountResources } from './accounts/account-routes.ts';
import { authorizationResources } from './authorizations/authorization-routes.ts';
import { FirstAttempts } from './authorizations/first-attempts.ts';
import { createAcmeConfigs } from './config/acme-config-operations.ts';
import { acmeConfigRoutes } from './config/acme-config-routes.ts';
import type { AcmeSettings } from './config/acme-settings.ts';
import { directoryResources } from './directories/directory-routes.ts';
import { directoryUrls } from './directories/domain/directory.ts';
import { externalAccountRoutes } from './eab/eab-routes.ts';
import { createSignatureChecks } from './jws/signature-checks.ts';
import { accountManagementRoutes } from './management/account-management-routes.ts';
import { createInProcessNonces } from './nonces/in-process-nonces.ts';
import { createStoredNonces } from './nonces/stored-nonces.ts';
import type { IssuancePolicy } from './orders/domain/issuance-policy.ts';
import { OPEN_ORDER_LIMITS, type OpenOrderLimits, OpenOrders } from './orders/open-orders.ts';
import { orderResources } from './orders/order-routes.ts';
import { renewalResources } from './renewal/renewal-routes.ts';
import { revocationResources } from './revocation/acme-revocation-routes.ts';
import { acmeRoutesOf } from './serving/acme-routes.ts';
import { validateOnThread } from './validation/validate-on-thread.ts';
import { toValidationSettings } from './validation/validation-settings.ts';
import { ValidationWorker } from './validation/validation-worker.ts';

export interface AcmeParts extends IssuingParts, RevocationParts {
  readonly config: AcmeSettings;
  readonly leases: LeaseStore;
  readonly logger: Logger;
  readonly policy: IssuancePolicy;
  readonly processors: number | undefined;
  /** Whether other processes or threads serve the same mounts from the same store. */
  readonly hasReplicas: boolean;
  readonly openOrderLimits: OpenOrderLimits | undefined;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  /** Returns the current mounts; none while sealed. */
  readonly mounts: () => readonly Mount[];
  readonly counters: PkiCounters;
}

export interface AcmeService {
  readonly routes: readonly Route[];
  /** Background workers by name; each runs until its signal aborts. */
  readonly workers: Readonly<Record<string, (signal: AbortSignal) => Promise<void>>>;
  /** Called after the mounts have changed. */
  onMounts(): void;
}

const CLEANING_INTERVAL_MS = 60_000;

export const createAcmeService = (parts: AcmeParts): AcmeService => {
  const { store, clock, config, leases, authorities } = parts;
  const { acmeDisablePublic: isPublicDisabled } = config;
  const configs = createAcmeConfigs(store, isPublicDisabled);
  const stored = parts.hasReplicas ? createStoredNonces({ store, clock }) : undefined;
  const nonces = stored ?? createInProcessNonces();
  const signatures = createSignatureChecks(parts);
  const validation = new ValidationWorker({
    ...parts,
    openValidation: validateOnThread(parts.logger, parts.processors),
    settingsOf: async (mount) => toValidationSettings(config, await configs.of(mount)),
    accountUrl: async (mount, { directory, accountId }) => {
      const { cluster } = (await authorities.of(mount)).settings;
      return directoryUrls(cluster.path, directory).account(accountId);
    },
  });
  const resourceParts = {
    ...parts,
    signatures,
    extraChallenges: {
      dnsAccount01: config.acmeDnsAccount01,
      tlsAlpn01ForAddresses: config.acmeTlsAlpnAddresses,
    },
    terms: { url: config.acmeTermsOfService, bindExisting: config.acmeTermsBindExisting },
    openOrders: new OpenOrders({
      store,
      clock,
      limits: parts.openOrderLimits ?? OPEN_ORDER_LIMITS,
    }),
    newId: randomUUID,
    firstAttempts: new FirstAttempts({ store, clock, attempts: validation }),
  };
  return {
    routes: [
      ...acmeConfigRoutes({ store, authorities, configs, isPublicDisabled }),
      ...externalAccountRoutes(parts),
      ...accountManagementRoutes(parts),
      ...acmeRoutesOf(
        { ...parts, configs, nonces, signatures },
        [...directoryResources(config), ...renewalResources(parts)],
        [
          ...accountResources(resourceParts),
          ...orderResources(resourceParts),
          ...authorizationResources(resourceParts),
          ...revocationResources(resourceParts),
        ],
      ),
    ],
    workers: {
      'challenge validation': (signal) => validation.run(signal),
      ...(stored !== undefined && {
        'nonce cleaning': (signal: AbortSignal) =>
          runPeriodically(
            {
              name: 'pki/acme-nonces',
              leases,
              clock,
              takeFence: (lease) => takeFence(store, lease),
            },
            { everyMs: CLEANING_INTERVAL_MS, round: (options) => stored.removeEnded(options) },
            signal,
          ),
      }),
    },
    onMounts: () => validation.wake(),
  };
};
