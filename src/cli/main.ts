import { Command, CommanderError } from 'commander';
import { SETTINGS } from '../config/settings.ts';
import {
  ERROR_CODES,
  InputError,
  messageOf,
  StoppedError,
  TailraceError,
  TransientError,
} from '../errors.ts';
import { packagePath } from '../lib/file.ts';
import { isOutOfSpace } from '../lib/system-failure.ts';
import { readVersion } from '../version.ts';

/** The exit codes; docs/operating.md lists them. */
const EXIT = { done: 0, input: 1, misuse: 2, failure: 3 } as const;

/** Each is loaded only if it is run: `tailrace query` needs no HTTP server, and `serve` no backup. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  init: async () => (await import('./commands/init.ts')).initCommand(),
  serve: async () => (await import('./commands/serve.ts')).serveCommand(),
  dev: async () => (await import('./commands/dev.ts')).devCommand(),
  reload: async () => (await import('./commands/service.ts')).reloadCommand(),
  stop: async () => (await import('./commands/service.ts')).stopCommand(),
  load: async () => (await import('./commands/load.ts')).loadCommand(),
  copy: async () => (await import('./commands/copy.ts')).copyCommand(),
  sample: async () => (await import('./commands/sample.ts')).sampleCommand(),
  query: async () => (await import('./commands/query.ts')).queryCommand(),
  check: async () => (await import('./commands/check.ts')).checkCommand(),
  test: async () => (await import('./commands/test.ts')).testCommand(),
  alerts: async () => (await import('./commands/alerts.ts')).alertsCommand(),
  keys: async () => (await import('./commands/keys.ts')).keysCommand(),
  people: async () => (await import('./commands/people.ts')).peopleCommand(),
  backup: async () => (await import('./commands/backup.ts')).backupCommand(),
  restore: async () => (await import('./commands/backup.ts')).restoreCommand(),
  delete: async () => (await import('./commands/delete.ts')).deleteCommand(),
};

/** @param names the commands to load. Default: all, for the help, which a test compares with docs/cli.md */
export async function createProgram(names = Object.keys(COMMANDS)): Promise<Command> {
  const program = new Command('tailrace')
    .description('Saved analytics queries over log data as HTTP endpoints.')
    .version(readVersion())
    .addHelpText(
      'after',
      `\nSettings are environment variables: see ${packagePath('docs/settings.md')}.\nExit codes: ` +
        '0 done, 1 wrong input, 2 misuse, 3 failure, not possible now, or stopped by a signal.',
    );
  for (const name of names) {
    const command = await COMMANDS[name]?.();
    if (command !== undefined) program.addCommand(command);
  }
  throwInsteadOfExit(program);
  return program;
}

/** Overrides the exit, for subcommands too: otherwise commander ends the process itself, with 1 for a misuse. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride().configureOutput({ outputError: (text, write) => write(text + advise(text)) });
  for (const one of command.commands) throwInsteadOfExit(one);
}

/** Says after a misuse where what is right is listed. Settings are not options: `--port` is TAILRACE_PORT. */
function advise(message: string): string {
  const [, option = ''] = /unknown option '--([\w-]+)/.exec(message) ?? [];
  const name = `TAILRACE_${option.toUpperCase().replaceAll('-', '_')}`;
  if (!Object.values(SETTINGS).some(({ env }) => env === name))
    return message.includes('unknown')
      ? 'tailrace --help lists the commands, and --help of a command its options\n'
      : '';
  return (
    `settings are environment variables: set ${name}, as in "${name}=… tailrace serve"; see ` +
    `${packagePath('docs/settings.md')}#${name.toLowerCase()}\n`
  );
}

/** Runs one command and sets the exit code of the process. */
export async function main(argv: readonly string[]): Promise<void> {
  // Node's own handler would exit with 1, which means wrong input.
  process.on('uncaughtException', (error) => process.exit(report(error)));
  // `tailrace query … | head` closes the pipe early. The command continues without its output: a load still has to
  // store the rest.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') process.exit(EXIT.failure); // EIO: the terminal is closed
    });
  }
  const code = await runCommand(argv);
  if (code !== undefined) process.exitCode = code;
}

/**
 * Runs one command in this process.
 *
 * @returns the exit code of its failure, which has been printed; `undefined` without one
 */
export async function runCommand(argv: readonly string[]): Promise<number | undefined> {
  try {
    const [, , name = ''] = argv;
    const program = await createProgram(Object.hasOwn(COMMANDS, name) ? [name] : undefined);
    await program.parseAsync([...argv]);
    return undefined;
  } catch (error) {
    return report(error);
  }
}

/** Returns the message; if the store is unavailable, with the cause, which only the operator may see. */
function describe(error: unknown): string {
  const isUnavailable = error instanceof TailraceError && error.code === 'engine_unavailable';
  if (isOutOfSpace(error)) return `the disk is full; make room (${messageOf(error)})`;
  if (!isUnavailable || !(error.cause instanceof Error)) return messageOf(error);
  const [why = ''] = error.cause.message.split('\n');
  return error.message.includes(why) ? error.message : `${error.message} (${why})`;
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.misuse; // commander has printed it
  const lines = error instanceof InputError ? error.faults : [describe(error)];
  process.stderr.write(lines.map((line) => `tailrace: ${line}\n`).join(''));
  if (error instanceof InputError) return error instanceof TransientError ? EXIT.failure : EXIT.input;
  if (error instanceof TailraceError) return ERROR_CODES[error.code].exit;
  if (error instanceof StoppedError || isOutOfSpace(error)) return EXIT.failure;
  if (error instanceof Error && error.stack !== undefined) process.stderr.write(`${error.stack}\n`);
  return EXIT.failure;
}
