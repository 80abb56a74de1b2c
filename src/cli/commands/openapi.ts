import { Command } from 'commander';
import { refuseFaults } from '../../definitions/fault.ts';
import { readDefinitions } from '../../definitions/read.ts';
import { createOpenApi } from '../../http/openapi/document.ts';
import { readVersion } from '../../version.ts';
import { readConfig } from '../environment.ts';

export function openApiCommand(): Command {
  return new Command('openapi')
    .description('Print the OpenAPI 3.1 document with every endpoint.')
    .option('--server <url>', 'address of the service', '/')
    .action(printOpenApi);
}

async function printOpenApi({ server }: { server: string }): Promise<void> {
  const { definitions, faults } = await readDefinitions(readConfig());
  refuseFaults(faults);
  const document = createOpenApi({ version: readVersion(), endpoints: definitions.endpoints, server });
  process.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
}
