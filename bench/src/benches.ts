import { acmeOrder } from './acme-order/acme-order.ts';
import type { Bench } from './bench.ts';
import { consolePages } from './console-pages/console-pages.ts';
import { distributedHop } from './distributed-hop/distributed-hop.ts';
import { distributedPostgres } from './distributed-postgres/distributed-postgres.ts';
import { growth } from './growth/growth.ts';
import { login } from './login/login.ts';
import { pkiCrl } from './pki-crl/pki-crl.ts';
import { pkiIssue } from './pki-issue/pki-issue.ts';
import { pkiIssueRsa } from './pki-issue/pki-issue-rsa.ts';
import { pkiSign } from './pki-issue/pki-sign.ts';
import { pkiList } from './pki-list/pki-list.ts';
import { pkiOcsp } from './pki-ocsp/pki-ocsp.ts';
import { replication } from './replication/replication.ts';
import { sandboxRun } from './sandbox-run/sandbox-run.ts';
import { secretsApi } from './secrets-api/secrets-api.ts';
import { servingThreads } from './serving-threads/serving-threads.ts';
import { standaloneStart } from './standalone-start/standalone-start.ts';
import { tenants } from './tenants/tenants.ts';
import { workspaces } from './workspace/workspace.ts';
import { workspaceDashboard } from './workspace/workspace-dashboard.ts';
import { workspaceHttp } from './workspace-http/workspace-http.ts';

/** All benches, in the order of the list. */
export const BENCHES: readonly Bench[] = [
  distributedHop,
  standaloneStart,
  sandboxRun,
  pkiIssue,
  pkiSign,
  pkiIssueRsa,
  pkiOcsp,
  pkiList,
  pkiCrl,
  acmeOrder,
  secretsApi,
  servingThreads,
  login,
  replication,
  workspaces,
  workspaceDashboard,
  workspaceHttp,
  distributedPostgres,
  growth,
  consolePages,
  tenants,
];
