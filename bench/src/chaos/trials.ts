import { acmeInput } from './acme-input/acme-input.ts';
import type { Chaos } from './chaos.ts';
import { disk } from './disk/disk.ts';
import { failovers } from './faults/failovers.ts';
import { kills } from './faults/kills.ts';
import { killsDistributed } from './faults/kills-distributed.ts';
import { outages } from './faults/outages.ts';
import { partition } from './faults/partition.ts';
import { hostile } from './hostile/hostile.ts';
import { hostileServers } from './hostile/hostile-servers.ts';
import { login } from './login/login.ts';
import { pkiInput } from './pki-input/pki-input.ts';
import { replicationInput } from './replication-input/replication-input.ts';
import { httpInput } from './server-input/http-input.ts';
import { policyInput } from './server-input/policy-input.ts';
import { soak } from './soak/soak.ts';
import { webhookInput } from './workspace-input/webhook-input.ts';
import { workspaceInput } from './workspace-input/workspace-input.ts';

export const TRIALS: readonly Chaos[] = [
  pkiInput,
  acmeInput,
  workspaceInput,
  webhookInput,
  replicationInput,
  httpInput,
  policyInput,
  kills,
  killsDistributed,
  outages,
  failovers,
  partition,
  login,
  soak,
  disk,
  hostile,
  hostileServers,
];
