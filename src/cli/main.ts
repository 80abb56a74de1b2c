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

/** docs/operating.md lists them. */
const EXIT = { done: 0, input: 1, misuse: 2, failure: 3 } as const;

/** Creates the program with every command; a test compares its help with docs/cli.md. */
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
  for (const create of commands) program.addCommand(create());
  throwInsteadOfExit(program);
  return program;
}

/** Also for subcommands: without it commander ends the process itself, with 1 for a misuse. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const one of command.commands) throwInsteadOfExit(one);
}

/** Runs one command and sets the exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  // Node's own handler would exit with 1, which means wrong input.
  process.on('uncaughtException', (error) => process.exit(report(error)));
  // `tailrace query … | head` closes the pipe early. The command goes on without its output: a load still has to store the rest.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') process.exit(EXIT.failure); // EIO: the terminal is closed
    });
  }
  try {
    await createProgram().parseAsync([...argv]);
  } catch (error) {
    process.exitCode = report(error);
  }
}

/** The message; if the store is unavailable, with the cause, which only the operator may see. */
function describe(error: unknown): string {
  const isUnavailable = error instanceof TailraceError && error.code === 'engine_unavailable';
  if (!isUnavailable || !(error.cause instanceof Error)) return messageOf(error);
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
