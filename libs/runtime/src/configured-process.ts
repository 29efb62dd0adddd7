/** Common parts of the main files of all processes: settings, help, log, traces, signals. */
import {
  type Config,
  type ConfigSchema,
  describeConfig,
  type Environment,
  nearest,
  parseConfig,
  settingDescriptions,
} from '@keelson/config';
import { createLogger, type LogDestination, type Logger } from '@keelson/logging';
import { refuseOldNode } from './node-version.js';
import { runProcess, type Stoppable } from './process.ts';
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
  readonly start: (config: Config<S>, logger: Logger) => Promise<Stoppable>;
}

const unknownArgument = (argument: string, schema: ConfigSchema): string => {
  const asSetting = `KEELSON${argument.replace(/^-+/, '-').split('=', 1)[0]}`
    .replaceAll('-', '_')
    .toUpperCase();
  const meant = nearest(
    asSetting,
    settingDescriptions(schema).map(({ name }) => name),
  );
  return (
    `"${argument}" is not an argument: settings come from the environment, --help lists them` +
    (meant === undefined ? '.' : `; did you mean ${meant}?`)
  );
};

/**
 * Prints the settings for `--help`. Otherwise reads them from the environment, starts the process, and runs
 * until a signal; SIGHUP reopens the log file and reloads certificates. An invalid setting stops the start
 * with a sentence that names its key, an old Node.js version with one that names the required version.
 */
export const runConfiguredProcess = async <S extends ConfigSchema>({
  name,
  schema,
  environment,
  logDestination,
  start,
}: ConfiguredProcess<S>): Promise<void> => {
  if (refuseOldNode(name)) return;
  const [argument] = process.argv.slice(2);
  if (argument === '--help' || argument === '--version') {
    process.stdout.write(
      argument === '--help'
        ? `${name} ${VERSION} takes its settings from the environment:\n\n${describeConfig(schema)}`
        : `${name} ${VERSION}\n`,
    );
    return;
  }
  await runProcess({
    name,
    environment,
    start: async () => {
      if (argument !== undefined) throw new Error(unknownArgument(argument, schema));
      const config = parseConfig(schema, environment);
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
