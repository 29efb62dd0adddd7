/** Configurations that execute the program of an attempt. */
import type { Attempt } from './attempt.ts';
import { documentFile } from './stand-in-tool.ts';

/** The files of a configuration whose runs execute the program. */
export const configurationOf = (program: string, { moment, documents = {} }: Partial<Attempt>) => {
  const evil = Object.fromEntries(
    [
      'evil/git',
      'evil/git-ls-remote',
      'evil/ssh',
      'evil/unshare',
      'evil-ssh/ssh',
      'evil-ssh/unshare',
    ].map((name) => [name, '#!/bin/sh\n. ./init >> ./said 2>&1\n']),
  );
  return {
    attempt: moment === 'init' ? 'cat ./said\n' : program,
    ...(moment === 'init' && { init: program, ...evil }),
    ...(moment === 'apply' && { 'during-apply': '' }),
    ...Object.fromEntries(
      Object.entries(documents).map(([name, command]) => [documentFile(name as never), command]),
    ),
  };
};

/** The ways to the code of a run: the stand-in of the tool, and two of the real one. */
export type Way = 'stand-in' | 'module' | 'provider';

const PLATFORM = `linux_${process.arch === 'x64' ? 'amd64' : process.arch}`;
const PLUGIN = `terraform.d/plugins/example.com/keelson/hostile/1.0.0/${PLATFORM}/terraform-provider-hostile_v1.0.0`;

/** Configurations whose code is a program of the shell. */
export const WAYS: Readonly<Record<Way, (program: string) => Readonly<Record<string, string>>>> = {
  'stand-in': (program) => configurationOf(program, {}),
  module: (program) => ({
    'main.tf': 'module "hostile" { source = "./hostile" }\n',
    'hostile/main.tf':
      'resource "terraform_data" "hostile" {\n  provisioner "local-exec" { command = "sh ${path.module}/attempt 2>&1" }\n}\n',
    'hostile/attempt': program,
  }),
  // The tool shows the first line of what is no provider.
  provider: (program) => ({
    'main.tf':
      'terraform {\n  required_providers {\n    hostile = { source = "example.com/keelson/hostile" }\n  }\n}\nprovider "hostile" {}\ndata "hostile_x" "one" {}\n',
    [PLUGIN]: `#!/bin/sh\n[ -f ./said ] || sh ./attempt > ./said 2>&1\necho "@@all $(grep -a -e '^@@' -e '^REACHED' ./said | base64 -w 0) @@end"\n`,
    attempt: program,
  }),
};

/** Output of the program in the log. */
export const saidBy: Readonly<Record<Way, (log: string) => string>> = {
  'stand-in': (log) => log,
  module: (log) => log.replaceAll(/^module\.hostile\.\S+ \(local-exec\): ?/gm, ''),
  provider: (log) => {
    const [, text = ''] = /@@all\s([^@]+)@@end/.exec(log) ?? [];
    return Buffer.from(text.replaceAll(/[^A-Za-z0-9+/=]/g, ''), 'base64').toString();
  },
};
