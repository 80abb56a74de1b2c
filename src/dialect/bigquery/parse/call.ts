import { parseList } from './list.ts';
import type { Grammar } from './token-stream.ts';
import type { Expression } from './tree.ts';

/** Parses a call after its opening bracket. @param name of the function, in lower case */
export function parseCall(name: string, start: number, grammar: Grammar): Expression {
  const { tokens } = grammar;
  if (/^(?:SELECT|WITH)$/.test(tokens.word()))
    throw tokens.fail(`calls ${name} with a SELECT, which is not understood`);
  const isDistinct = tokens.takeWords('DISTINCT');
  const isOfRows = !isDistinct && tokens.takeSign('*');
  const args = isOfRows || tokens.isSign(')') ? [] : parseList(grammar);
  const isOver = endCall(name, grammar) && parseOver(grammar);
  return { kind: 'call', name, args, isOfRows, isDistinct, isOver, start };
}

/** Words that say more about an argument. */
const MODIFIERS = new Set(['ORDER', 'LIMIT', 'IGNORE', 'RESPECT', 'HAVING', 'AS', 'SEPARATOR', 'WHERE']);

/** @returns whether OVER stands after the call, which is read */
function endCall(name: string, { tokens }: Grammar): boolean {
  const word = tokens.word();
  if (MODIFIERS.has(word))
    throw tokens.fail(`has ${word === 'ORDER' ? 'ORDER BY' : word} in ${name}(…), which is not understood`);
  if (tokens.isSign('=') && tokens.isSign('>', 1))
    throw tokens.fail(`has a named argument of ${name}, which is not understood`);
  tokens.expectSign(')', `a comma or the closing bracket of ${name}`);
  if (/^(?:IGNORE|RESPECT)$/.test(tokens.word()))
    throw tokens.fail(`has ${tokens.word()} NULLS, which is not understood`);
  return tokens.takeWords('OVER');
}

/** The brackets after OVER, which have to be empty. */
function parseOver({ tokens }: Grammar): true {
  if (!tokens.takeSign('('))
    throw tokens.fail('has OVER with a name, that of a WINDOW, which is not understood');
  const word = tokens.word();
  if (word === 'PARTITION') throw tokens.fail('has PARTITION BY, which is not understood');
  if (word === 'ORDER') throw tokens.fail('has OVER (ORDER BY …), which is not understood');
  if (!tokens.takeSign(')'))
    throw tokens.fail(
      `has OVER with ${word || 'something'} in its brackets, which is not understood; write OVER ()`,
    );
  return true;
}
