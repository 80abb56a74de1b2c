import { openBenchData } from './data.ts';
for (const n of process.argv.slice(2)) { const s = Date.now(); console.log(await openBenchData(Number(n)), (Date.now() - s) / 1000); }
