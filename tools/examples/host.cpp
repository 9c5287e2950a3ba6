// host.cpp: a host in C++. Smart pointers free VM, program and run; the provider is a method.
#include <mwl_asm.h>
#include <mwl_std.h>

#include <cstring>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

template <typename T, void (*free_it)(T *)> struct freed_by {
    void operator()(T *p) const { free_it(p); }
};
using vm_ptr = std::unique_ptr<mwl_vm, freed_by<mwl_vm, mwl_vm_free>>;
using program_ptr = std::unique_ptr<mwl_program, freed_by<mwl_program, mwl_program_release>>;
using run_ptr = std::unique_ptr<mwl_run, freed_by<mwl_run, mwl_run_free>>;

void check(mwl_status status, const mwl_error &error = mwl_error()) {
    if (status < 0)
        throw std::runtime_error(std::string(mwl_status_text(status)) + ": " +
                                 (error.message ? error.message : ""));
}

mwl_value text(mwl_heap *heap, const std::string &s) {
    return mwl_string(heap, s.data(), s.size());
}

std::string text_of(mwl_value v) {
    size_t len = 0;
    const char *p = mwl_as_text(v, &len);
    return std::string(p ? p : "", len);
}

class counter { // a provider with its own state; exceptions must not leave a callback
  public:
    static constexpr const char *uri = "mwl:provider.call/acme/count/v1";
    static constexpr const char *document = R"({
        "$schema": "https://mwl.dev/v0.1/provider/schema.json", "uri": "mwl:provider.call/acme/count/v1",
        "codePrefix": "Count", "description": "Counts its calls.", "parameters": {"type": "object"},
        "failureCatalog": {"closed": [], "open": []}})";

    void provide(mwl_vm *vm) {
        mwl_call_provider p = mwl_call_provider();
        p.uri = uri;
        p.document = document;
        p.now = [](mwl_heap *, mwl_value, mwl_value, mwl_value *out, void *self) {
            return static_cast<counter *>(self)->count(out);
        };
        mwl_error error = mwl_error();
        check(mwl_vm_provide(vm, &p, 1, this, &error), error);
    }

  private:
    int calls = 0;

    int count(mwl_value *out) noexcept { // it never waits, so it needs no record of the call
        *out = mwl_number(++calls);
        return MWL_NOW_SUCCEEDED;
    }
};

program_ptr assemble(const std::string &definition) {
    mwl_asm_provider document = {"count.json", counter::document, std::strlen(counter::document)};
    mwl_asm_options options = mwl_asm_options();
    options.providers = &document;
    options.n_providers = 1;
    mwl_asm_result out;
    mwl_program *program = nullptr;
    mwl_error error = mwl_error();
    mwl_status status = mwl_assemble(definition.data(), definition.size(), &options, &out);
    if (status == MWL_OK)
        status = mwl_program_load(nullptr, out.image, out.image_size, MWL_COPY, &program, &error);
    else
        std::cerr << out.diagnostics;
    mwl_asm_free(&out);
    check(status, error);
    return program_ptr(program);
}

const char definition[] = R"({
  "$schema": "https://mwl.dev/v0.1/flow/schema.json",
  "entrypoint": "count",
  "steps": {
    "count": {"action": "Call", "call": {"provider": "mwl:provider.call/acme/count/v1"},
              "output": "{{ 'visitor ' + string(step.result.value) + ': ' + step.input }}", "next": "done"},
    "done": {"action": "Return"}
  }
})";

} // namespace

int main() try {
    program_ptr program = assemble(definition);
    mwl_vm *made = nullptr;
    check(mwl_vm_new(nullptr, &made));
    vm_ptr vm(made);
    check(mwl_std_register(vm.get(), nullptr));
    counter counts;
    counts.provide(vm.get());
    for (const char *name : {"Ada", "Grace"}) {
        mwl_heap *heap = mwl_vm_heap(vm.get());
        mwl_start start = mwl_start();
        start.id = name;
        start.input = text(heap, name);
        mwl_run *started = nullptr;
        mwl_error error = mwl_error();
        mwl_status status = mwl_run_start(vm.get(), program.get(), &start, &started, &error);
        mwl_value_drop(heap, start.input);
        check(status, error);
        run_ptr run(started);
        mwl_vm_pump(vm.get(), MWL_NO_BUDGET);
        if (!mwl_run_succeeded(run.get())) throw std::runtime_error("the run failed");
        std::cout << mwl_run_id(run.get()) << ": " << text_of(mwl_run_value(run.get())) << "\n";
    }
    return 0;
} catch (const std::exception &e) {
    std::cerr << "host: " << e.what() << "\n";
    return 1;
}
