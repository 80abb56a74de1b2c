import { Command, CommanderError } from 'commander';
import { ERROR_CODES, InputError, messageOf, StoppedError, TailraceError } from '../errors.ts';
import { packagePath } from '../lib/package-path.ts';
import { readVersion } from '../version.ts';
import { backupCommand } from './commands/backup.ts';
import { checkCommand } from './commands/check.ts';
import { copyCommand } from './commands/copy.ts';
import { deleteCommand } from './commands/delete.ts';
import { keysCommand } from './commands/keys.ts';
import { loadCommand } from './commands/load.ts';
import { openApiCommand } from './commands/openapi.ts';
import { queryCommand } from './commands/query.ts';
import { reloadCommand } from './commands/reload.ts';
import { restoreCommand } from './commands/restore.ts';
import { retentionCommand } from './commands/retention.ts';
import { sampleCommand } from './commands/sample.ts';
import { schemaCommand } from './commands/schema.ts';
import { serveCommand } from './commands/serve.ts';
import { stopCommand } from './commands/stop.ts';
import { EXIT } from './exit.ts';

/** Every command, for `main` and for the test that holds docs/cli.md equal to the help. */
export function createProgram(): Command {
  const program = new Command('tailrace')
    .description('Saved analytics queries over log data as HTTP endpoints.')
    .version(readVersion())
    .addHelpText(
      'after',
      `\nSettings are environment variables: see ${packagePath('docs/settings.md')}.\nExit codes: 0 done, 1 wrong input, 2 misuse, 3 failure or stopped by a signal.`,
    );
  const commands = [
    serveCommand,
    reloadCommand,
    stopCommand,
    loadCommand,
    copyCommand,
    sampleCommand,
    queryCommand,
    checkCommand,
    keysCommand,
    retentionCommand,
    backupCommand,
    restoreCommand,
    deleteCommand,
    openApiCommand,
    schemaCommand,
  ];
  for (const make of commands) program.addCommand(make());
  throwInsteadOfExit(program);
  return program;
}

/** Also for the commands of commands: without it commander itself ends the process, with 1 for a misuse. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const one of command.commands) throwInsteadOfExit(one);
}

/** Runs one command as a process does; the only place that sets the exit code of a failure. */
export async function main(argv: readonly string[]): Promise<void> {
  // Node would end with 1, which means wrong input here.
  process.on('uncaughtException', (error) => process.exit(report(error)));
  // `tailrace query … | head` closes the pipe early, which is no fault of anyone: nobody reads on, and the work goes on. A
  // load whose reports nobody wants any more must still store the rest.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') process.exit(EXIT.failure); // EIO: the terminal is closed
    });
  }
  const code = await runCommand(argv);
  if (code !== undefined) process.exitCode = code;
}

/** Runs one command in this process. @returns the exit code of its failure, which has been printed; `undefined` without one */
export async function runCommand(argv: readonly string[]): Promise<number | undefined> {
  try {
    await createProgram().parseAsync([...argv]);
    return undefined;
  } catch (error) {
    return report(error);
  }
}

/** Why a store is not there, too, which a caller over HTTP is not told: the shell is the operator's. */
function describe(error: unknown): string {
  const isAway = error instanceof TailraceError && error.code === 'engine_unavailable';
  if (!isAway || !(error.cause instanceof Error)) return messageOf(error);
  const [why = ''] = error.cause.message.split('\n');
  return error.message.includes(why) ? error.message : `${error.message} (${why})`;
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.misuse; // commander has printed it
  const lines = error instanceof InputError ? error.faults : [describe(error)];
  process.stderr.write(lines.map((line) => `tailrace: ${line}\n`).join(''));
  if (error instanceof InputError) return EXIT.input;
  if (error instanceof TailraceError) return ERROR_CODES[error.code].exit;
  if (error instanceof StoppedError) return EXIT.failure;
  if (error instanceof Error && error.stack !== undefined) process.stderr.write(`${error.stack}\n`);
  return EXIT.failure;
}
