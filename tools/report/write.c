/* write.c: the page of the report as a file. See report.h. */
#include "tools/report/record.h"

#include "tools/base/cmd.h"
#include "tools/base/file_out.h"
#include "report_page.h"

int report_write(struct report *r, const struct report_about *about, const char *path) {
    mwl__buf svg = mwl__buf_make(r->alloc), data = mwl__buf_make(r->alloc);
    mwl__buf page = mwl__buf_make(r->alloc);
    report_data(r, about, &svg, &data);
    mwl__buf_put(&page, report_page_1, sizeof report_page_1);
    if (!svg.failed && svg.len) mwl__buf_put(&page, svg.data, svg.len);
    mwl__buf_put(&page, report_page_2, sizeof report_page_2);
    if (!data.failed) mwl__buf_put(&page, data.data, data.len);
    mwl__buf_put(&page, report_page_3, sizeof report_page_3);
    int status = page.failed || data.failed ? cmd_no_memory() : file_out(path, page.data, page.len);
    mwl__buf_free(&page);
    mwl__buf_free(&data);
    mwl__buf_free(&svg);
    return status;
}
