import { readFileSync } from 'node:fs';
import { DockerfileParser, type Instruction, type JSONInstruction } from 'dockerfile-ast';

/** What the rules and the tests need to know of a Dockerfile. */
export interface Image {
  /** Instructions of the last stage, in their order, without the name: `['USER', '10001:10001']`. */
  readonly last: readonly (readonly [keyword: string, text: string])[];
  /** The images that stages begin with, arguments put in. */
  readonly bases: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** ENTRYPOINT and CMD together. */
  readonly command: readonly string[];
}

export const DOCKERFILE = readFileSync('Dockerfile', 'utf8');

export function readImage(text: string): Image {
  const file = DockerfileParser.parse(text);
  const all = file.getInstructions();
  const from = all.findLastIndex((one) => one.getKeyword() === 'FROM');
  const last = all.slice(from + 1);
  const args = file.getInitialARGs().map((arg) => arg.getProperty());
  const bases = file.getFROMs().map((one) => {
    const name = /^\$\{(\w+)\}$/.exec(one.getImage() ?? '')?.[1];
    return (name && args.find((arg) => arg?.getName() === name)?.getValue()) ?? one.getImage() ?? '';
  });
  const properties = file.getENVs().flatMap((one) => one.getProperties());
  return {
    last: last.map((one) => [one.getKeyword(), one.getTextContent().slice(one.getKeyword().length + 1)]),
    bases,
    env: Object.fromEntries(properties.map((one) => [one.getName(), one.getValue() ?? ''])),
    command: ['ENTRYPOINT', 'CMD'].flatMap((keyword) =>
      last.filter((one) => one.getKeyword() === keyword).flatMap(stringsOf),
    ),
  };
}

function stringsOf(instruction: Instruction): string[] {
  const strings = (instruction as JSONInstruction).getJSONStrings();
  return strings.map((one) => one.getJSONValue());
}
