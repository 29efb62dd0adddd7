/**
 * The allowed import graph: for each folder its layers, lowest first, one per line. A subfolder may import
 * the layers before its own; subfolders of the same layer are independent. Files directly in the folder, such
 * as `compose.ts`, may import every layer. `npm run imports` checks this, and that there are no cycles
 * between folders or files. Type imports count.
 */
import type { AllowedImports } from './import-graph.ts';

export const allowedImports: AllowedImports = {
  '': ['proto', 'libs', 'deploy', 'services', 'bench conformance'],

  libs: [
    'clock config errors lint testcontainers testkit',
    'logging x509',
    'storage',
    'credentials locks metrics passkeys rpc runtime supervisor',
    'bus edge objects',
    'jsonapi outbound replication secrets-api',
    'cluster-member history openid repositories',
    'engine',
    'sandbox',
    'agent',
  ],

  // Standalone composes the services.
  services: ['auth console gateway pki runner sys workspace', 'standalone', 'cli'],

  'services/auth/src': ['logins providers', 'approle cert jwt kubernetes ldap userpass'],

  'libs/agent/src': ['credentials executor owners', 'execution'],

  'services/cli/src': ['client', 'importing', 'pki-import tfe-import', 'commands'],

  'services/gateway/src': [
    'access limits tls',
    'request server',
    'answers',
    'audit est metrics openapi',
    'api-v2 console-session hooks live probes v1',
    'threads',
  ],

  'services/pki/src': [
    'lints metrics mounts names threads validity',
    'authority-urls crl-config keys',
    'certificates',
    'clusters',
    'issuers',
    'crl ocsp roles',
    'issuing revocation',
    'acme est',
    'external-policy rpc tidy',
    'workers',
  ],

  'services/pki/src/acme': [
    'config nonces problems',
    'answers jws',
    'directories',
    'eab renewal',
    'accounts',
    'orders serving',
    'authorizations management revocation',
    'validation',
  ],

  'services/runner/src': ['tools', 'slots'],

  'services/sys/src': [
    'damage metadata owners tools',
    'audit member-stores policies',
    'namespaces tokens',
    'cubbyhole custom-messages mounts nodes seal',
    'identity quotas',
    'mfa oidc',
    'activity internal-ui leases locked-users logins own-tokens snapshots wrapping',
    'access backups replication',
    'metrics rpc upgrades',
  ],

  'services/workspace/src': [
    'base',
    'identity',
    'workspaces',
    'state',
    'runs',
    'vcs',
    'audit-trail',
  ],

  'services/workspace/src/base': [
    'api-description mail signed-urls validation',
    'execution retention',
  ],

  'services/workspace/src/identity': [
    'model',
    'access users',
    'seams',
    'tokens',
    'command-logins mails',
    'passwords',
    'two-factor',
    'sessions',
    'passkeys',
    'accounts teams',
    'single-sign-on token-lifetimes',
    'organizations',
    'administration',
  ],

  'services/workspace/src/workspaces': [
    'model',
    'access',
    'listing team-access variables',
    'seams',
    'tags',
    'projects',
    'oauth',
    'lifecycle',
    'agent-pools locking notifications ssh-keys state-consumers variable-sets',
    'administration',
  ],

  'services/workspace/src/state': [
    'contents retention',
    'model',
    'seams',
    'configuration-versions state-versions',
    'managed-instances',
  ],

  'services/workspace/src/runs': [
    'model seams',
    'executors workload-identity',
    'forced-unlocks lifecycle',
    'agents assessments auto-destroy run-checks run-triggers',
    'agent-runs',
    'runner',
  ],

  'services/workspace/src/vcs': [
    'model triggers',
    'providers',
    'seams',
    'authorization hooks',
    'commit-statuses ingress',
    'repository-work',
    'agent-work',
  ],

  'libs/replication/src': ['cipher domain', 'membership', 'wire', 'primary', 'secondary'],

  // The port, store.ts, imports none of these.
  'libs/storage/src': [
    'records shapes',
    'collections',
    'barrier projections wal',
    'copies merkle',
    'reading',
    'transaction',
    'postgres sqlite',
  ],

  'libs/x509/src': ['der', 'names', 'extensions', 'keys', 'ocsp'],

  'bench/src': ['acme-order workspace', 'chaos growth profile'],
};

/** Folders that only tests, benches and conformance import, never the product itself. */
export const outsideProduct: readonly string[] = ['deploy', 'libs/testkit'];
