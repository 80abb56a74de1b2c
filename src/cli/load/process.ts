// The process in which `tailrace load` reads files by the engine: it has a separate session, without tables. Statements
// come from the command, since they may hold credentials, which arguments would show to every user of the machine.
import { Session } from 'chdb';
import { messageOf } from '../../errors.ts';
import type { BulkReply, BulkRequest } from './bulk.ts';

const session = new Session(process.argv[2]);

process.on('message', ({ statement }: BulkRequest) => {
  const reply = (message: BulkReply) => process.send?.(message);
  try {
    const bytes = session.query(statement, 'JSONEachRow');
    reply({ text: String(bytes) });
  } catch (error) {
    reply({ failure: messageOf(error) });
  }
});
process.on('disconnect', () => process.exit(0));
