/** Common parts of the main files of all processes: settings, help, log, traces, signals. */
import {
  type Config,
  ConfigError,
  type ConfigSchema,
  describeConfig,
  type Environment,
  exposedSecrets,
  parseConfig,
  readSettingsFile,
  type SettingsFile,
} from '@keelson/config';
import { createLogger, type LogDestination, type Logger } from '@keelson/logging';
import { readExceptions, temporaryExceptionFile } from './exception-file.ts';
import { refuseOldNode } from './node-version.js';
import { runProcess, type Stoppable } from './process.ts';
import { readArguments, USAGE } from './process-arguments.ts';
import type { processSettings } from './process-settings.ts';
import { explainStartFailure } from './start-failure.ts';
import { startTracing } from './tracing.ts';
import { VERSION } from './version.ts';

export interface ConfiguredProcess<S extends ConfigSchema> {
  /** Name such as "keelson-pki", used in logs, traces and start errors. */
  readonly name: string;
  /** Includes `processSettings`. */
  readonly schema: S;
  /** `process.env`: main files are its only readers. */
  readonly environment: Environment;
  /** Destination of log lines; standard output when absent. */
  readonly logDestination?: (config: Config<S>) => LogDestination | undefined;
  /** Keeps the count of uncaught exceptions for the next start; in the folder for temporary files when absent. */
  readonly exceptionFile?: (config: Config<S>) => string;
  readonly start: (config: Config<S>, logger: Logger) => Promise<Stoppable>;
}

/** Read before the environment is checked, because it names the file with the other settings. */
const CONFIG_FILE = 'KEELSON_CONFIG_FILE';

const readFileOf = async (
  environment: Environment,
  configFile: string | undefined,
): Promise<(SettingsFile & { readonly origin: string }) | undefined> => {
  const path = configFile ?? environment[CONFIG_FILE];
  if (path === undefined || path === '') return undefined;
  const origin = configFile === undefined ? CONFIG_FILE : '--config';
  const file = await readSettingsFile(path, origin);
  if (file.values.has('config_file'))
    throw new ConfigError([
      `config_file in ${path} has no effect there: use --config or ${CONFIG_FILE}.`,
    ]);
  return { ...file, origin };
};

const readConfig = async <S extends ConfigSchema>(
  schema: S,
  environment: Environment,
  configFile: string | undefined,
): Promise<Config<S>> => {
  const file = await readFileOf(environment, configFile);
  const config = parseConfig(schema, environment, file);
  const exposed = exposedSecrets(schema, config, file);
  if (exposed.length > 0) throw new ConfigError(exposed);
  return config;
};

/**
 * Prints the settings for `--help`. Otherwise reads them from the environment and a file, starts the process, and runs
 * until a signal; SIGHUP reopens the log file and reloads certificates. An invalid setting stops the start
 * with a sentence that names its key, an old Node.js version with one that names the required version.
 */
export const runConfiguredProcess = async <S extends ConfigSchema>({
  name,
  schema,
  environment,
  logDestination,
  exceptionFile = () => temporaryExceptionFile(name),
  start,
}: ConfiguredProcess<S>): Promise<void> => {
  if (refuseOldNode(name)) return;
  const given = readArguments(process.argv.slice(2), schema);
  if (given.task !== 'run') {
    const title = `${name} ${VERSION}\n`;
    process.stdout.write(
      given.task === 'version' ? title : `${title}\n${USAGE}\n${describeConfig(schema)}`,
    );
    return;
  }
  let exceptions = temporaryExceptionFile(name);
  await runProcess({
    name,
    environment,
    exceptionFile: () => exceptions,
    start: async () => {
      if (given.problem !== undefined) throw new ConfigError([given.problem]);
      const config = await readConfig(schema, environment, given.configFile);
      // TypeScript cannot infer that S includes these.
      const { logLevel, otlpEndpoint } = config as unknown as Config<typeof processSettings>;
      const explained = (error: unknown): unknown => explainStartFailure(error, schema, config);
      const openLog = (): LogDestination | undefined => {
        try {
          return logDestination?.(config);
        } catch (error) {
          throw explained(error);
        }
      };
      const destination = openLog();
      const logger = createLogger({
        name,
        level: logLevel,
        ...(destination === undefined ? {} : { destination }),
      });
      exceptions = exceptionFile(config);
      readExceptions(exceptions);
      const tracing = await startTracing({ serviceName: name, endpoint: otlpEndpoint, logger });
      const running = await start(config, logger).catch((error: unknown) => {
        const err = explained(error);
        logger.fatal({ err }, 'cannot start');
        throw err;
      });
      return {
        logger,
        reload: async () => {
          destination?.reopen();
          await running.reload?.();
          logger.info('reloaded');
        },
        stop: async () => {
          await running.stop();
          await tracing.stop();
        },
      };
    },
  });
};
