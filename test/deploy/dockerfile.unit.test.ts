import { readFileSync } from 'node:fs';
import { validate } from 'dockerfile-utils';
import { expect, test } from 'vitest';
import { DOCKERFILE, readImage } from './dockerfile.ts';
import { findSettingFaults } from './settings.ts';

const { optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  optionalDependencies: Record<string, string>;
};
/** The Node that comes with the packages, the same for every platform. */
const [NODE, ...otherNodes] = new Set(Object.values(optionalDependencies));

/** What the linter of Dockerfiles has to say, and what our own rules have. */
function findFaults(text: string): string[] {
  const image = readImage(text);
  const said = (keyword: string) => image.last.find(([one]) => one === keyword)?.[1] ?? '';
  const runs = image.last.filter(([keyword]) => keyword === 'RUN').map(([, run]) => run);
  const rules: [right: boolean, fault: string][] = [
    [
      image.bases.every((base) => base === `node:${NODE}-bookworm-slim`),
      'every stage is to begin with the Node of package.json',
    ],
    [/^[1-9]\d*:[1-9]\d*$/.test(said('USER')), 'USER is to be a number other than root’s'],
    [/^[\s\S]*CMD curl -f.*\/ready/.test(said('HEALTHCHECK')), 'HEALTHCHECK is to ask /ready by curl'],
    [runs.some((run) => /apt-get install .*\bcurl\b/.test(run)), 'curl is to be there'],
    [
      image.last.every(([keyword, copied]) => keyword !== 'COPY' || copied.startsWith('--from=')),
      'the last stage is to copy from the others alone',
    ],
    [text.includes('npm install --omit=dev'), 'what is for development is to stay out'],
    [
      image.command.join(' ') === 'node bin/tailrace.js serve',
      'node is to be process 1, which SIGTERM reaches',
    ],
  ];
  return [
    ...validate(text).map(({ message }) => String(message)),
    ...rules.filter(([right]) => !right).map(([, fault]) => fault),
    ...findSettingFaults(image.env),
  ];
}

test('the Dockerfile has no fault', () => {
  expect(otherNodes).toEqual([]);
  expect(findFaults(DOCKERFILE)).toEqual([]);
});

test.each([
  ['EXPOSE 4000', 'EXPOZE 4000', 'Unknown instruction: EXPOZE'],
  ['--interval=10s', '--interval=10', 'time: missing unit in duration 10'],
  ['node:24.21.0', 'node:22.1.0', 'every stage is to begin with the Node of package.json'],
  ['USER 10001:10001', 'USER root', 'USER is to be a number other than root’s'],
  ['/ready', '/', 'HEALTHCHECK is to ask /ready by curl'],
  ['--no-install-recommends curl', '--no-install-recommends wget', 'curl is to be there'],
  ['COPY --from=build /package ./', 'COPY . .', 'the last stage is to copy from the others alone'],
  ['npm install --omit=dev', 'npm install', 'what is for development is to stay out'],
  [
    'ENTRYPOINT ["node", "bin/tailrace.js"]',
    'ENTRYPOINT ["npm", "start"]',
    'node is to be process 1, which SIGTERM reaches',
  ],
  ['TAILRACE_DATA_DIR', 'TAILRACE_DATA_FOLDER', 'TAILRACE_DATA_FOLDER is not a setting'],
])('“%s” as “%s” is told', (right, wrong, fault) => {
  expect(DOCKERFILE).toContain(right);
  expect(findFaults(DOCKERFILE.replaceAll(right, wrong))).toContain(fault);
});
