import { describeEngine } from './contract.ts';
import { openOnServer } from './open.ts';

describeEngine('the engine on a server', openOnServer);
