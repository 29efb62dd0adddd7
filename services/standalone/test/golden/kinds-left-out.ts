/** Declared kinds of which the newest golden store has no record, by the reason. Places are those of docs/records.md. */
export const KINDS_LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  'exists only during the first start': ['node/core/initializing'],
  'exists only while a snapshot is restored': [
    'node/core/pending-restoration',
    'node/core/restoration',
  ],
  'exists only until the next round of background work': [
    'local/lease-endings/…',
    'shared/removed-workspaces/…',
  ],
  'exists only while a process fetches from a repository, or after it has died of that': [
    'shared/repository-attempts/…',
  ],
  'a rekey replaces the shares with which the tests unseal': ['local/core/rekey-backups/…'],
  'only a revocation that failed for five minutes leaves it': ['local/lease-irrevocable/…'],
  'only processes that share a PostgreSQL database write it': [
    'node/replicas/…',
    'node/replication/requests/…',
  ],
  'was declared after the newest golden store was made': [
    'shared/agent-pool-switches/…',
    'shared/oauth-client-switches/…',
    'shared/organization-switches/…',
    'shared/workspace-configurations/…',
    'shared/workspace-locks/…',
    'shared/workspace-variables/…',
  ],
  'needs a workspace that was due to be destroyed': ['shared/auto-destroy-outcomes/…'],
  'needs an assessment of a workspace': ['shared/workspace-assessments/…'],
  'needs an object storage': ['shared/object-owner/…'],
  'needs the built-in runner with Terraform': ['shared/runner-turns/…'],
  'a local mount has no lists and requests for other clusters': [
    'local/mounts/*/revocation-confirmations/…',
    'local/mounts/*/revocation-requests/…',
    'local/mounts/*/unified-crl-pending/…',
    'local/mounts/*/unified-crls/…',
  ],
  'needs a secondary that issues or revokes': [
    'local/outbox/…',
    'shared/mounts/*/revocation-confirmations/…',
  ],
  'needs a filtered secondary': ['node/replication/filter/…'],
  'needs a change of roles': [
    'local/replication/log-end',
    'local/replication/performance/promotions/…',
    'node/replication/promotions/…',
    'node/replication/sealed/pending-activation',
    'shared/replication/log-end',
  ],
  'needs a DR secondary': [
    'node/replication/sealed/dr-operation-token',
    'node/replication/sealed/dr-token-attempt',
  ],
  'needs a store that was restored from an older copy': ['local/replication/*/logs/…'],
};
