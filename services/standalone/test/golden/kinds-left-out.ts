/** Declared kinds of which the newest golden store has no record, by the reason. Places are those of docs/records.md. */
export const KINDS_LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  'exists only during the first start': ['node/core/initializing'],
  'exists only while a snapshot is restored': [
    'node/core/pending-restoration',
    'node/core/restoration',
  ],
  'exists only until the next round of background work': [
    'local/lease-endings/…',
    'shared/address-notices/…',
    'shared/address-notices~userId/…',
    'shared/password-mails/…',
    'shared/removed-workspaces/…',
  ],
  'exists for a minute at most, until a command has shown it': [
    'shared/login-codes/…',
    'shared/login-codes~userId/…',
  ],
  'exists for a minute at most, until a client redeems it': [
    'local/oidc-codes/…',
    'local/oidc-codes~entity/…',
    'local/oidc-codes~expiry/…',
  ],
  'exists for five minutes at most, after somebody has shown a second factor': [
    'local/finished-logins/…',
    'local/finished-logins~expiry/…',
  ],
  'only a revocation that failed for five minutes leaves it': ['local/lease-irrevocable/…'],
  'only processes that share a PostgreSQL database write it': [
    'node/replicas/…',
    'node/replication/requests/…',
  ],
  'needs a workspace that was due to be destroyed': ['shared/auto-destroy-outcomes/…'],
  'needs a link that is sent by mail': [
    'local/passcode-uses/…',
    'shared/passwords/…',
    'shared/second-factors/…',
  ],
  'needs a browser with an authenticator': [
    'local/passkey-uses/…',
    'shared/passkeys/…',
    'shared/passkeys~userId/…',
  ],
  'needs somebody who is signed in for an hour': ['local/service-token-uses/…'],
  'needs somebody who fails to sign in': ['local/sign-in-lockouts/…'],
  'needs a method that reports groups': ['shared/entity-aliases~group/…'],
  'needs a login at a provider of identities': [
    'local/mounts/*/jwt/finished-logins/…',
    'local/mounts/*/jwt/used-states/…',
    'shared/sso-identities/…',
    'shared/sso-identities~userId/…',
    'shared/used-sso-states/…',
  ],
  'needs an object storage': ['shared/object-owner/…'],
  'needs the built-in runner with Terraform': ['shared/runner-turns/…'],
  'needs a run with a token of its own': ['shared/workload-keys/…'],
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
  'exists only while a cluster begins to follow another': [
    'node/replication/sealed/pending-activation',
  ],
  'needs a store that was restored from an older copy': ['local/replication/*/logs/…'],
};
