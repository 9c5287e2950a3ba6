// expr (e1) to (e6) by @marcbachmann/cel-js: the same texts on the same data.
import { Environment } from '@marcbachmann/cel-js';
import { expect, measure } from './measure.mjs';

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
const cel = new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false });
const scope = { step: { input } };
for (const [name, [text, wanted]] of Object.entries(expressions)) {
  const evaluate = cel.parse(text);
  const got = evaluate(scope);
  expect((Array.isArray(got) ? got.length : got?.id ?? got) === wanted, name);
  measure('expr', '@marcbachmann/cel-js', name, () => evaluate(scope));
}
