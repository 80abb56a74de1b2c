import { describeTimeLimit } from './contract.ts';
import { openEmbedded, openOnServer } from './open.ts';

describeTimeLimit(process.env['TEST_ENGINE'] === undefined ? openEmbedded : openOnServer);
