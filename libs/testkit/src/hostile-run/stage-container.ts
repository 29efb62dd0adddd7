/** An agent in its container, on a Docker engine of the stage, so that the machine of the container is the stage. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { run } from './stage-files.ts';

const FOLDER = '/mnt/engine';
const SOCKET = `unix://${FOLDER}/docker.sock`;
const NAME = 'agent';
const NETWORK = 'runs';
const READY_WITHIN = 120;
const PAUSE_MS = 250;

/** The user of the image. */
export const CONTAINER_USER = 65_532;
/** Where the container has what the stage gives it. */
export const IN_CONTAINER = {
  folder: '/data',
  tools: '/tools',
  main: '/keelson/deploy/agent/src/main.ts',
};
/** As the agent's README says. */
const WALLS = `
  --cap-drop ALL --security-opt no-new-privileges
  --pids-limit 2048 --memory 3g --memory-swap 3g --ulimit nofile=4096:4096
  --network ${NETWORK} --link-local-ip 169.254.169.254 --link-local-ip 169.254.170.2`
  .trim()
  .split(/\s+/);

const docker = (...args: readonly string[]): string => run('docker', '-H', SOCKET, ...args).trim();

const answers = (): boolean => {
  try {
    execFileSync('docker', ['-H', SOCKET, 'info'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** Starts an engine. @param image descriptor of a file that `docker save` has written @returns name of the image */
export const startEngine = async (image: number): Promise<string> => {
  mkdirSync(FOLDER);
  run('mount', '-t', 'tmpfs', '-o', 'size=4g,mode=711', 'none', FOLDER);
  const places = ['--data-root', `${FOLDER}/data`, '--exec-root', `${FOLDER}/run`];
  const engine = spawn('dockerd', [...places, '-p', `${FOLDER}/pid`, '-H', SOCKET], {
    stdio: 'ignore',
    // It asks the message bus about a firewall, and that of the stage does not answer.
    env: { ...process.env, DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${FOLDER}/no-bus` },
  });
  for (let tries = 0; !answers(); tries += 1) {
    if (tries > READY_WITHIN || engine.exitCode !== null) throw new Error('dockerd did not start');
    await pause(PAUSE_MS);
  }
  const load = spawn('docker', ['-H', SOCKET, 'load', '--quiet'], {
    stdio: [image, 'pipe', 'inherit'],
  });
  let said = '';
  load.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await once(load, 'close');
  const [, name] = /^Loaded image: (\S+)/m.exec(said) ?? [];
  if (name === undefined) throw new Error(`the image was not loaded: ${said}`);
  return name;
};

export interface AgentContainer {
  /** Process of the agent, as the machine numbers it; 0 while there is none. */
  readonly pid: () => number;
}

export const startAgentContainer = (
  image: string,
  settings: Readonly<Record<string, string>>,
  volumes: Readonly<Record<string, string>>,
): AgentContainer => {
  const given = [
    ...Object.entries(settings).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
    ...Object.entries(volumes).flatMap(([from, to]) => ['-v', `${from}:${to}`]),
  ];
  docker('network', 'create', NETWORK);
  docker('run', '--detach', '--name', NAME, '--restart', 'always', ...WALLS, ...given, image);
  return { pid: () => Number(docker('inspect', '--format', '{{.State.Pid}}', NAME)) };
};
