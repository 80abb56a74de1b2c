import { Command } from 'commander';
import { describeFolders, findFolders } from '../../definitions/folders.ts';
import { InputError } from '../../errors.ts';
import { packagePath } from '../../lib/file.ts';
import { readConfig } from '../environment.ts';
import { runTests, summarise, toText } from '../testing/run-tests.ts';

export function testCommand(): Command {
  return new Command('test')
    .description(
      'Run the tests of endpoints, endpoints/<folder>/tests/*.yaml, each file on its own empty engine.',
    )
    .argument('[names...]', 'names or UUIDs of endpoints; all without one')
    .action(test);
}

async function test(names: string[]): Promise<void> {
  const config = readConfig();
  for (const line of describeFolders(findFolders(config))) process.stderr.write(`tailrace: ${line}\n`);
  const results = await runTests({ config, names });
  if (results.length === 0)
    throw new InputError([
      'no test was found: add tests/<name>.yaml to the folder of an endpoint, as ' +
        `${packagePath('docs/testing-endpoints.md')} shows`,
    ]);
  process.stdout.write(toText(results));
  if (results.some(({ isPassed }) => !isPassed)) throw new InputError([summarise(results)]);
  process.stdout.write(`${summarise(results)}\n`);
}
