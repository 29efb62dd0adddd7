/** A run that waits for confirmation, planned by a minimal agent that uses the API directly. */
import { gzipSync } from 'node:zlib';

// oxlint-disable-next-line typescript/no-explicit-any -- answers of many shapes, judged by the callers
export type JsonObject = any;

/** A control plane and its `/api/v2`. */
export interface RunSite {
  /** "http://127.0.0.1:PORT" */
  readonly origin: () => string;
  /** Sends a request below `/api/v2/`; returns the answer's document. `token` defaults to the first user's. */
  readonly workspaces: (
    method: string,
    path: string,
    body?: object,
    token?: string,
  ) => Promise<JsonObject>;
}

const TAR_BLOCK = 512;

/** A configuration archive with one file. */
export const configurationWith = (name: string, text: string): Uint8Array => {
  const content = Buffer.from(text);
  const header = Buffer.alloc(TAR_BLOCK);
  header.write(name, 0);
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\0', 257);
  header.write('00', 263);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const padding = Buffer.alloc((TAR_BLOCK - (content.length % TAR_BLOCK)) % TAR_BLOCK);
  return gzipSync(Buffer.concat([header, content, padding, Buffer.alloc(2 * TAR_BLOCK)]));
};

const create = (type: string, attributes: object, relationships: object = {}): object => ({
  data: { type, attributes, relationships },
});

/** The plan as `terraform show -json` writes it. */
const PLAN = {
  format_version: '1.2',
  resource_changes: ['one', 'two'].map((name) => ({
    address: `machine.${name}`,
    change: {
      actions: ['create'],
      before: null,
      after: { name, size: 2 },
      after_unknown: { id: true },
    },
  })),
  output_changes: { count: { actions: ['update'], before: 0, after: 2 } },
};

export interface PlannedRun {
  readonly runId: string;
  readonly workspaceId: string;
  /** Claims the next phase of the run. */
  readonly claim: () => Promise<JsonObject>;
  /** Appends to the log of the most recently claimed phase. */
  readonly log: (text: string) => Promise<void>;
  readonly finish: (counts?: object) => Promise<void>;
}

/**
 * Creates the organization if it is absent, a pool with one agent, a workspace, and a run whose plan has
 * finished.
 */
export const addPlannedRun = async (
  { workspaces, origin }: RunSite,
  name: string,
  {
    organization = 'acme',
    plan = PLAN,
    counts = { 'resource-additions': 2 },
  }: {
    readonly organization?: string;
    /** As `terraform show -json` writes it. */
    readonly plan?: object;
    readonly counts?: object;
  } = {},
): Promise<PlannedRun> => {
  const O = `organizations/${organization}`;
  await workspaces('GET', O).catch(() =>
    workspaces(
      'POST',
      'organizations',
      create('organizations', { name: organization, email: 'a@b.example' }),
    ),
  );
  const pool = await workspaces('POST', `${O}/agent-pools`, create('agent-pools', { name }));
  const made = await workspaces(
    'POST',
    `agent-pools/${pool.data.id}/authentication-tokens`,
    create('authentication-tokens', {}),
  );
  const poolToken = made.data.attributes.token as string;
  const agent = await workspaces('POST', 'agents', create('agents', { name }), poolToken);
  const workspace = await workspaces(
    'POST',
    `${O}/workspaces`,
    create('workspaces', { name, 'execution-mode': 'agent', 'agent-pool-id': pool.data.id }),
  );
  const workspaceId = workspace.data.id as string;
  const announced = await workspaces(
    'POST',
    `workspaces/${workspaceId}/configuration-versions`,
    create('configuration-versions', { 'auto-queue-runs': false }),
  );
  const { pathname, search } = new URL(announced.data.attributes['upload-url']);
  await fetch(`${origin()}${pathname}${search}`, {
    method: 'PUT',
    body: configurationWith('main.tf', ''),
  });
  const run = await workspaces(
    'POST',
    'runs',
    create(
      'runs',
      { message: 'Two machines more' },
      {
        workspace: { data: { type: 'workspaces', id: workspaceId } },
      },
    ),
  );
  const runId = run.data.id as string;

  let phaseToken = '';
  const claim = async (): Promise<JsonObject> => {
    const { data } = await workspaces(
      'POST',
      'agent-runs/actions/claim',
      { data: { type: 'agents', id: agent.data.id } },
      poolToken,
    );
    phaseToken = data.attributes.token;
    return data;
  };
  const log = async (text: string): Promise<void> => {
    await workspaces('POST', `agent-runs/${runId}/logs`, create('logs', { text }), phaseToken);
  };
  const finish = async (counts: object = {}): Promise<void> => {
    const attributes = { status: 'finished', 'has-changes': true, ...counts };
    await workspaces('PATCH', `agent-runs/${runId}`, create('agent-runs', attributes), phaseToken);
  };
  const claimed = await claim();
  for (const kind of ['json-output', 'json-output-redacted']) {
    const upload = new URL(claimed.attributes[`${kind}-upload-url`] as string);
    await fetch(`${origin()}${upload.pathname}${upload.search}`, {
      method: 'PUT',
      body: JSON.stringify(plan),
    });
  }
  await log('Terraform will perform the following actions:\n');
  await finish(counts);
  return { runId, workspaceId, claim, log, finish };
};
