#!/usr/bin/env node
/** The command line `keelson`. It calls the public API; only `start` and `doctor` access local data. */
import tab from '@bomb.sh/tab/commander';
import { VERSION } from '@keelson/runtime/version';
import { Command, CommanderError } from 'commander';
import { CliFailure, EXIT } from './client/failure.ts';
import { endWithOutput } from './client/terminal.ts';
import { addAccessCommands } from './commands/access-commands.ts';
import { addBackupCommands } from './commands/backup-commands.ts';
import { Cli } from './commands/cli.ts';
import { addDoctorCommand } from './commands/doctor-command.ts';
import { addImportCommands } from './commands/import-commands.ts';
import { addMountCommands } from './commands/mount-commands.ts';
import { addOrganizationCommands } from './commands/organization-commands.ts';
import { addPartSwitchCommands } from './commands/part-switch-commands.ts';
import { addPathCommands } from './commands/path-commands.ts';
import { addPkiCommands } from './commands/pki-commands.ts';
import { addReplicationCommands } from './commands/replication-commands.ts';
import { addSealCommands } from './commands/seal-commands.ts';
import { addUserCommands } from './commands/user-commands.ts';
import { addWorkspaceCommands } from './commands/workspace-commands.ts';

const program = new Command('keelson')
  .description('Command line of Keelson.')
  .version(VERSION)
  .option('--address <url>', 'address of the server (KEELSON_ADDR, VAULT_ADDR)')
  .option('--ca-cert <file>', 'PEM file of the CA of the server (KEELSON_CACERT, VAULT_CACERT)')
  .option('--json', 'print JSON')
  .showHelpAfterError('(add --help for the arguments)')
  .exitOverride();

endWithOutput(process.stdout);
const cli = new Cli(program, process.env);
addSealCommands(program, cli);
addAccessCommands(program, cli);
addMountCommands(program, cli);
addPkiCommands(program, cli);
addOrganizationCommands(program, cli);
addPartSwitchCommands(program, cli);
addWorkspaceCommands(program, cli);
addUserCommands(program, cli);
addReplicationCommands(program, cli);
addImportCommands(program, cli);
addBackupCommands(program, cli);
addPathCommands(program, cli);
addDoctorCommand(program, cli);
tab(program, { completionCommandName: 'completion' });

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : EXIT.usage;
  else if (error instanceof CliFailure) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = error.exitCode;
  } else throw error;
}
