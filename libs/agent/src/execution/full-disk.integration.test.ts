/** The state of an apply whose run has left no byte free on the disk of its folder, a small tmpfs. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { temporaryDirectory } from '@keelson/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type ClaimedPhase, ControlPlane } from '../control-plane.ts';
import { clearPlace, executePhase, type Place } from './execution.ts';
import { preparePlace, toPlaceFolder } from './place.ts';

const run = promisify(execFile);
const STATE = '{"version":4,"serial":7,"lineage":"one","outputs":{},"resources":[]}';
const DISK = 'size=4m,mode=711';
/** Writes until the disk is full. */
const FILL = 'dd if=/dev/zero of="$1" bs=4096 2>/dev/null; true';

/** A control plane that takes errored states with this status, and the folder of places on a disk of its own. */
const open = async (status: number) => {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  await chmod(directory.path, 0o711);
  const places = join(directory.path, 'places');
  await mkdir(places);
  await run('mount', ['-t', 'tmpfs', '-o', DISK, 'none', places]);
  onTestFinished(async () => void (await run('umount', ['--lazy', places])));

  const archive = join(directory.path, 'configuration.tar.gz');
  await writeFile(join(directory.path, 'main.tf'), '');
  await run('tar', ['-czf', archive, '-C', directory.path, 'main.tf']);
  const heard: { readonly path: string; readonly body: string }[] = [];
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      const { url: path = '' } = request;
      heard.push({ path, body });
      if (path === '/configuration') response.end(await readFile(archive));
      else response.writeHead(path === '/errored' ? status : 204).end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const faults: string[] = [];
  const place: Place = {
    program: { name: 'agent', prefix: 'KEELSON_AGENT_', unsafe: 'KEELSON_AGENT_EXECUTION=unsafe' },
    folder: toPlaceFolder(places, 0),
    owner: { uid: 201_000_001, gid: 201_000_001 },
    confinement: undefined,
    controlPlane: new ControlPlane(address, 'of-the-pool'),
    task: { address, host: 'keelson.example', timeLimitSeconds: 60, outputLimitBytes: 1024 * 1024 },
    environment: { PATH: process.env['PATH'] ?? '' },
    caFile: undefined,
    cliConfigFile: undefined,
    log: {
      info: () => undefined,
      warn: () => undefined,
      error: (values) => void faults.push(JSON.stringify(values)),
    },
  };
  return {
    place,
    address,
    faults,
    kept: join(places, 'kept-run-one.tfstate'),
    logged: () => heard.map(({ body }) => body).join(''),
    uploaded: () => heard.filter(({ path }) => path === '/errored').map(({ body }) => body),
  };
};

const ofRoot = process.getuid?.() === 0 ? describe : describe.skip;

ofRoot('the state of an apply on a full disk', () => {
  const leaveApply = async ({ place, address }: Awaited<ReturnType<typeof open>>) => {
    const applied = { runId: 'run-one', workspaceName: 'network' };
    await preparePlace(place.folder, { agentId: 'agent-one', applied }, place.owner);
    const root = join(place.folder.run, 'phases', 'run-one');
    const stateFile = join(root, 'states', 'network', 'terraform.tfstate');
    const leftover = { erroredStateUrl: `${address}/errored`, startedFromMd5: null, stateFile };
    const program = `mkdir -p "$(dirname "$2")" "$0/configuration" && printf %s "$3" > "$2" && printf %s "$4" > "$0/phase.json"; set -- "$0/configuration/full"; ${FILL}`;
    await run(
      'sh',
      ['-c', program, root, '', stateFile, STATE, JSON.stringify({ ...leftover, pidFile: '' })],
      {
        uid: place.owner.uid,
        gid: place.owner.gid,
      },
    );
    await expect(writeFile(join(place.folder.root, 'more'), 'x')).rejects.toThrow('ENOSPC');
  };

  test('is uploaded at the next start', async () => {
    const opened = await open(204);
    await leaveApply(opened);
    await clearPlace(opened.place, () => Promise.resolve());
    expect(opened.uploaded()).toEqual([STATE]);
    expect(opened.faults).toEqual([]);
    expect([existsSync(opened.kept), existsSync(opened.place.folder.root)]).toEqual([false, false]);
  });

  test('is kept in a file that the log names where the control plane does not take it', async () => {
    const opened = await open(413);
    await leaveApply(opened);
    await clearPlace(opened.place, () => Promise.resolve());
    expect(opened.uploaded()).toEqual([STATE]);
    expect(await readFile(opened.kept, 'utf8')).toBe(STATE);
    const { uid, mode } = await stat(opened.kept);
    expect([uid, mode & 0o777]).toEqual([0, 0o600]);
    expect(opened.faults).toEqual([JSON.stringify({ run: 'run-one', file: opened.kept })]);
    expect(existsSync(opened.place.folder.root)).toBe(false);
  });

  test('is not kept where the run is applied, or gone', async () => {
    const opened = await open(409);
    await leaveApply(opened);
    await clearPlace(opened.place, () => Promise.resolve());
    expect([opened.uploaded(), existsSync(opened.kept)]).toEqual([[STATE], false]);
  });

  /** Executes an apply whose tool writes its state, and then fills the disk. */
  const applyAndFill = async ({ place, address }: Awaited<ReturnType<typeof open>>) => {
    const tool = join(place.folder.root, '..', 'terraform');
    const program = `#!/bin/sh
case "$1" in
version) printf '{"terraform_version":"1.9.9","platform":"here"}' ;;
apply) printf '%s' '${STATE}' > ../states/network/terraform.tfstate; set -- "$PWD/full"; ${FILL}; exec sleep 60 ;;
esac
`;
    await writeFile(tool, program, { mode: 0o755 });
    const attributes = {
      phase: 'apply',
      'is-assessment': false,
      'workspace-name': 'network',
      'working-directory': '',
      'configuration-download-url': `${address}/configuration`,
      'state-download-url': null,
      'errored-state-upload-url': `${address}/errored`,
      'runtime-version': null,
      variables: [],
    };
    const phase = { runId: 'run-one', agentId: 'agent-one', token: 'of-the-run', attributes };
    await executePhase(
      place,
      phase as unknown as ClaimedPhase,
      () => Promise.resolve(tool),
      new AbortController().signal,
    );
  };

  test('is uploaded when its run is ended for that', async () => {
    const opened = await open(204);
    await applyAndFill(opened);
    expect(opened.uploaded()).toEqual([STATE]);
    expect(opened.logged()).toContain('this run had filled the most of it');
    expect([existsSync(opened.kept), existsSync(opened.place.folder.root)]).toEqual([false, false]);
  });

  test('is kept in a file that the log of its run names', async () => {
    const opened = await open(413);
    await applyAndFill(opened);
    expect(await readFile(opened.kept, 'utf8')).toBe(STATE);
    expect(opened.logged()).toContain(`It is kept on the machine of the agent, in ${opened.kept}.`);
    expect(existsSync(opened.place.folder.root)).toBe(false);
  });
});
