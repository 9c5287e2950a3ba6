// The same work as mwl-bench's expr/e1 .. e6 and schema/validate, by engines of the Node world: one JSON line per
// case, in mwl-bench's own form. Run by `run`, which lays mwl-bench's lines beside these.
import { readFileSync } from 'node:fs';
import { Environment } from '@marcbachmann/cel-js';
import Ajv2020 from 'ajv/dist/2020.js';

const here = new URL('.', process.argv[2] ? `file://${process.argv[2]}/` : import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, here), 'utf8'));

const input = {
  id: 'granule-0001', collection: 'modis-l1', a: 7, b: 20,
  user: { name: 'ada', address: { street: 'main', city: 'oslo' } },
  items: Array.from({ length: 100 }, (_, i) => ({ id: `i${i}`, v: (i * 37) % 100 })),
};
const expressions = {
  e1_select: ['step.input.user.address.city', 'oslo'],
  e2_arith: ['step.input.a * 2.0 + step.input.b > 10.0 && step.input.b <= 100.0', true],
  e3_concat: ["'/granules/' + step.input.collection + '/' + step.input.id", '/granules/modis-l1/granule-0001'],
  e4_has: ["has(step.input.opt) ? step.input.opt : 'default'", 'default'],
  e5_list100: ['step.input.items.filter(i, i.v > 50.0).map(i, i.v * 2.0)', 49],
  e6_map: ["{'id': step.input.id, 'n': step.input.a + 1.0, 'tags': ['x', step.input.collection], 'nested': {'ok': true}}", 'granule-0001'],
};

// Double the count until a sample lasts 45 ms, then the median of five.
function measure(run) {
  let n = 1;
  const sample = () => {
    const start = process.hrtime.bigint();
    for (let i = 0; i < n; i++) run();
    return Number(process.hrtime.bigint() - start);
  };
  while (sample() < 45e6) n *= 2;
  const times = Array.from({ length: 5 }, () => sample() / n).sort((x, y) => x - y);
  return { median: times[2], min: times[0], max: times[4], n };
}
function report(suite, peer, name, run) {
  console.log(JSON.stringify({ suite, peer, case: name, unit: 'ns/op', ...measure(run) }));
}

const cel = new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false });
for (const [name, [text, wanted]] of Object.entries(expressions)) {
  const evaluate = cel.parse(text);
  const scope = { step: { input } };
  const got = evaluate(scope);
  const answer = Array.isArray(got) ? got.length : (got?.id ?? got);
  if (answer !== wanted) throw new Error(`${name}: got ${JSON.stringify(answer)}`);
  report('expr', '@marcbachmann/cel-js', name, () => evaluate(scope));
}

const ajv = new Ajv2020({ strict: false, multipleOfPrecision: 6 });
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i);
ajv.addFormat('duration', /^P(?!$)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?$/);
const validate = ajv.compile(read('schema.json'));
const instance = read('instance.json');
if (!validate(instance)) throw new Error(JSON.stringify(validate.errors));
report('schema', 'ajv', 'validate', () => validate(instance));
