import { ON_SERVER } from '../support/cli-engine.ts';
import { describeTimeLimit } from './contract.ts';
import { openEmbedded, openOnServer } from './open.ts';

describeTimeLimit(ON_SERVER ? openOnServer : openEmbedded);
