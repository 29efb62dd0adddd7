import { composeConfig } from '@keelson/config';
import { processSettings } from '@keelson/runtime';
import { Type } from 'typebox';

/** Settings of the built-in runner in every form of the installation. */
export const runnerSettings = Type.Object(
  {
    runnerConcurrency: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 64,
        description:
          'Phases that the built-in runner executes at the same time. Not set: 2 where runs have users of their own, else 1. More than 1 is refused where they share one, because runs could then read the files of others.',
      }),
    ),
    runnerFirstUserId: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_000_000_000,
        description:
          'A runner that is root executes the phases under users of their own: this id and the following ones, which nothing else on the machine may use, since all their processes are ended after each phase. 0: they are executed as the user of the runner. Not set: ids from 200000000 on that follow from the folder.',
      }),
    ),
    runnerFolder: Type.Optional(
      Type.String({
        description:
          'Folder of the files of runs, emptied after each phase and at each start; its users must be able to reach it. Not set: one in the temporary folder of the system.',
      }),
    ),
    runnerToolsFolder: Type.Optional(
      Type.String({
        description:
          'Folder with releases of terraform or tofu as their projects publish them, in addition to those in PATH: `terraform_1.11.4_linux_amd64.zip` with `terraform_1.11.4_SHA256SUMS`, which is checked each time.',
      }),
    ),
    runnerTool: Type.Optional(
      Type.Union([Type.Literal('terraform'), Type.Literal('tofu')], {
        description:
          'The only tool that runs are executed with. Not set: terraform, and tofu for versions that only it has.',
      }),
    ),
    runnerOtherRelease: Type.Boolean({
      default: false,
      description:
        'Whether a run whose terraform-version is not there is executed with the first release that is: a program in PATH, else a zip file. Otherwise it is errored. tofu sets the terraform-version of a workspace that it creates to its own.',
    }),
    runnerCliConfigFile: Type.Optional(
      Type.String({
        description:
          'Configuration file of the tool for all runs, such as one that names a mirror of providers. It must hold no credentials, because every run can read it.',
      }),
    ),
    runnerEnvironment: Type.Array(
      Type.String({ pattern: '^(?!KEELSON_)[A-Za-z_][A-Za-z0-9_]*$' }),
      {
        default: [],
        description:
          'Names of environment variables of the runner that reach the tool, such as HTTPS_PROXY; of the others only PATH does.',
      },
    ),
    runnerAllowedRanges: Type.Array(Type.String(), {
      default: [],
      description:
        'IP addresses or CIDR ranges that runs in a sandbox may reach beyond the internet and the control plane. Private, link-local and loopback addresses are refused otherwise.',
    }),
    runnerReadablePaths: Type.Array(Type.String({ pattern: '^/' }), {
      default: [],
      description:
        'Files and folders that runs in a sandbox may read, in addition to the programs of the system and those in PATH: a mirror of providers, for example.',
    }),
    runnerTimeLimitSeconds: Type.Integer({
      default: 7200,
      minimum: 1,
      maximum: 86_400,
      description: 'Time after which a plan or an apply is interrupted, and the run errored.',
    }),
  },
  { title: 'Built-in runner' },
);

const SANDBOX =
  'in a sandbox, which bubblewrap makes. Where none can be made the runner is off, and says so; with unsafe, runs are executed without one, and can read what their user can read and reach what the machine reaches.';

/** Whether the runner in the process of the control plane is on. */
export const ownRunnerSettings = Type.Object(
  {
    runner: Type.Union([Type.Literal('true'), Type.Literal('false'), Type.Literal('unsafe')], {
      description: `Whether the built-in runner executes the runs of workspaces with execution mode remote (without it they need agents), ${SANDBOX}`,
      default: 'true',
    }),
  },
  { title: 'Built-in runner' },
);

/** Settings of the runner as a separate process. */
export const runnerProcessConfig = composeConfig(
  runnerSettings,
  Type.Object(
    {
      runner: Type.Union([Type.Literal('true'), Type.Literal('unsafe')], {
        description: `Runs are executed ${SANDBOX}`,
        default: 'true',
      }),
      runnerAddress: Type.String({
        pattern: '^https?://[^/]+$',
        description: 'Address of the control plane as the runner reaches it: http://gateway:8200.',
      }),
      runnerHost: Type.Optional(
        Type.String({
          description:
            'Host and port by which configurations name the control plane (`hostname` of a cloud block, terraform_remote_state). Not set: those of the address.',
        }),
      ),
      runnerToken: Type.Optional(
        Type.String({
          minLength: 32,
          secret: true,
          description: 'Token of the built-in runner, as in the workspace service.',
        }),
      ),
      runnerTokenFile: Type.Optional(
        Type.String({
          secretFile: true,
          description: 'File with that token, where it is not set.',
        }),
      ),
      runnerCaFile: Type.Optional(
        Type.String({
          description:
            'PEM file of a CA that is trusted for the control plane, in addition to those of the system.',
        }),
      ),
    },
    { title: 'Control plane' },
  ),
  processSettings,
);
